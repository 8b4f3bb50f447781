// Arrays to quantise that meet every rule of every recipe: the tests' and the capture's. Which kind a block is depends on
// its number and the seed; what stands in it is drawn.
//
//   random bits of the format (NaN and infinities among them)      one NaN          amax just above or below 448 * 2^e
//   a few powers of two apart; few significant bits (ties)         NaN only         the largest finite values
//   zeros of both signs; tiny, below every floor; subnormal        an infinity      one large among zeros
//   quotients on the midpoints between two codes, give or take a step of x: there a last bit of the factor shows
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "emulator/number/quantize.hpp"
#include "emulator/support/random.hpp"
#include "gpu/kernels/quantize_config.hpp"

namespace fp8twin::capture {

inline constexpr std::uint64_t quantize_kinds = 13;

/// The value of an element, before it is rounded to the format. `bits` and `block_bits` are random, the latter the same
/// for the whole block; `first`: is it the block's element at its own place of choice?
inline float quantize_value(std::uint64_t kind, std::uint64_t bits, std::uint64_t block_bits, bool first) {
  const float sign = bits >> 63 ? -1.0f : 1.0f;
  const auto low = [](std::uint64_t word, std::uint64_t count) { return static_cast<int>(word % count); };
  const float unit = 1.0f + static_cast<float>(bits >> 20 & 0x7fffff) * 0x1p-23f;  // 1 to 2
  const int exponent = low(block_bits, 60) - 30;
  switch (kind) {
    case 1:  // a few powers of two apart
      return sign * std::ldexp(unit, exponent - low(bits, 9));
    case 2:  // few significant bits, under few sizes of amax: quotients on ties
      return sign * static_cast<float>(low(bits, 32)) * std::ldexp(1.0f, exponent);
    case 3:
      return sign * 0.0f;
    case 4:  // below every floor
      return sign * std::ldexp(unit, -40 - low(bits, 70));
    case 5:  // subnormal in FP32 and BF16; zero in F16
      return sign * std::ldexp(unit, -127 - low(bits, 20));
    case 6:
      return first ? std::numeric_limits<float>::quiet_NaN() : sign * unit;
    case 7:
      return std::numeric_limits<float>::quiet_NaN();
    case 8:
      return first ? sign * std::numeric_limits<float>::infinity() : sign * unit;
    case 9: {  // s a few steps beside a power of two, where log2 may lose the fraction
      const float beside = 1.0f + static_cast<float>(low(block_bits >> 8, 64) - 24) * 0x1p-23f;
      const float amax = 448.0f * std::ldexp(beside, low(block_bits >> 20, 150) - 30);
      return sign * (first ? amax : amax * 0.37f);
    }
    case 10: {
      const float amax = std::ldexp(1.0f + static_cast<float>(low(block_bits >> 8, 128)) * 0x1p-7f, exponent);
      if (first) return sign * amax;
      const double middle =
          std::ldexp(17.0 + 2 * low(bits, 8), low(bits >> 3, 12) - 8);  // between normal codes, below 448
      const float x = static_cast<float>(static_cast<double>(amax) * middle / 448.0);
      return sign * f32_from_bits(f32_bits(x) + static_cast<std::uint32_t>(low(bits >> 8, 5) - 2));
    }
    case 11:  // the largest finite values
      return sign * std::ldexp(unit, 127);
    default:  // one large among zeros
      return first ? sign * std::ldexp(unit, exponent) : sign * 0.0f;
  }
}

template <class T>
T rounded_to(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    return T::rn(x);
  }
}

template <class T>
std::vector<T> draw_quantize_input(const BlockGrid& grid, std::uint64_t seed) {
  using Word = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint16_t>;
  const Random elements(seed, 0), blocks(seed, 1);
  std::vector<T> x(static_cast<std::size_t>(grid.elements()));
  std::size_t at = 0;
  for (std::int64_t expert = 0; expert < grid.experts; ++expert) {
    for (std::int64_t row = 0; row < grid.rows; ++row) {
      for (std::int64_t column = 0; column < grid.columns; ++column, ++at) {
        const auto block = static_cast<std::uint64_t>(grid.scale_index(expert, row, column));
        const std::uint64_t block_bits = blocks.bits(block), bits = elements.bits(at);
        const std::uint64_t kind = (block + seed) % quantize_kinds;
        // The chosen place lies in the block's first row, in a column that even a narrow block has now and then.
        const bool first = row % grid.shape.rows == 0 &&
                           static_cast<std::uint64_t>(column) % 128 == (block_bits >> 40) % 128;
        x[at] = kind == 0 ? std::bit_cast<T>(static_cast<Word>(bits))
                          : rounded_to<T>(quantize_value(kind, bits, block_bits, first));
      }
    }
  }
  return x;
}

/// One array, in one of the formats.
struct QuantizeInput {
  std::vector<BF16> bf16;
  std::vector<F16> f16;
  std::vector<float> f32;
  InputFormat format;

  QuantizeInput(InputFormat format_, const BlockGrid& grid, std::uint64_t seed) : format(format_) {
    if (format == InputFormat::bf16) bf16 = draw_quantize_input<BF16>(grid, seed);
    if (format == InputFormat::f16) f16 = draw_quantize_input<F16>(grid, seed);
    if (format == InputFormat::f32) f32 = draw_quantize_input<float>(grid, seed);
  }
  Values values() const {
    if (format == InputFormat::bf16) return std::span<const BF16>(bf16);
    if (format == InputFormat::f16) return std::span<const F16>(f16);
    return std::span<const float>(f32);
  }
};

inline constexpr InputFormat input_formats[] = {InputFormat::bf16, InputFormat::f16, InputFormat::f32};
inline constexpr ScaleFormat scale_formats[] = {ScaleFormat::f32, ScaleFormat::ue8m0};
inline constexpr BlockShape block_shapes[] = {block_1x128, block_128x128};

/// Codes and scales, and how many of them differ in their bits.
struct Quantized {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;
  explicit Quantized(const BlockGrid& grid)
      : codes(static_cast<std::size_t>(grid.elements())), scales(static_cast<std::size_t>(grid.scales())) {}

  std::size_t codes_differing(const Quantized& other) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) count += codes[i] != other.codes[i];
    return count;
  }
  std::size_t scales_differing(const Quantized& other) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      count += f32_bits(scales[i]) != f32_bits(other.scales[i]);
    }
    return count;
  }
};

}  // namespace fp8twin::capture
