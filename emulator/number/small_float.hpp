// One rounding for every small binary format: E4M3, E5M2, binary16 and BF16 differ only in this description.
//
//     [ s | exponent: e bits | fraction: m bits ]    normal:    1.fraction * 2^(exponent - bias)
//                                                    subnormal: 0.fraction * 2^(1 - bias)
//
// A code's magnitude bits (all but the sign), read as an integer, count the format's values upwards from zero. So
// rounding is: write |x| in units of the value grid, round that integer to nearest even, and a carry out of the
// fraction lands in the exponent by itself. Whether the result is too large is then one integer comparison.
// Source: OCP 8-bit Floating Point Specification 1.0 (E4M3, E5M2); IEEE 754-2019 (binary16).
#pragma once

#include <cstdint>

#include "emulator/number/float_bits.hpp"

namespace fp8twin {

struct FloatFormat {
  int exponent_bits;
  int fraction_bits;
  int bias;
  std::uint32_t largest_finite;  // magnitude code of the largest finite value
  bool has_infinity;             // the code after largest_finite is infinity (else it is NaN)

  constexpr int total_bits() const { return 1 + exponent_bits + fraction_bits; }
  constexpr std::uint32_t sign() const { return 1u << (total_bits() - 1); }
};

inline constexpr FloatFormat e4m3_format{4, 3, 7, 0x7e, false};
inline constexpr FloatFormat e5m2_format{5, 2, 15, 0x7b, true};
inline constexpr FloatFormat f16_format{5, 10, 15, 0x7bff, true};
inline constexpr FloatFormat bf16_format{8, 7, 127, 0x7f7f, true};

/// Magnitude code of |x| rounded to nearest, ties to even, as if the format's exponent range had no top:
/// a result above format.largest_finite is an overflow. x must not be NaN; infinity gives UINT32_MAX.
constexpr std::uint32_t round_magnitude(const FloatFormat& format, float x) {
  const std::uint32_t bits = f32_bits(x) & ~f32_sign;
  if (bits == f32_infinity) return UINT32_MAX;

  const std::uint32_t field = bits >> 23;
  const std::uint32_t significand =
      (bits & 0x7fffff) | (field ? 0x800000u : 0u);  // |x| = significand * 2^(exponent-23)
  const int exponent = (field ? static_cast<int>(field) : 1) - 127;

  const int lowest = 1 - format.bias;  // the exponent shared by the smallest normals and all subnormals
  const int scale = exponent > lowest ? exponent : lowest;
  const int drop = 23 - format.fraction_bits + (scale - exponent);  // significand bits below the grid
  if (drop > 25) return 0;                                          // below half the smallest subnormal

  std::uint32_t kept = significand >> drop;
  const std::uint32_t rest = significand & ((1u << drop) - 1);
  const std::uint32_t half = drop > 0 ? 1u << (drop - 1) : UINT32_MAX;
  if (rest > half || (rest == half && (kept & 1))) ++kept;
  // kept holds the hidden bit of a normal; adding it to exponent-1 turns the hidden bit into a carry.
  return (static_cast<std::uint32_t>(scale - lowest) << format.fraction_bits) + kept;
}

/// The exact value of a code of at most 16 bits. NaN decodes to the canonical quiet NaN with the code's sign.
constexpr float decode(const FloatFormat& format, std::uint32_t code) {
  const std::uint32_t magnitude = code & (format.sign() - 1);
  const std::uint32_t sign = (code & format.sign()) ? f32_sign : 0;
  if (magnitude > format.largest_finite) {
    const bool infinite = format.has_infinity && magnitude == format.largest_finite + 1;
    return f32_from_bits(sign | (infinite ? f32_infinity : f32_canonical_nan));
  }
  const std::uint32_t field = magnitude >> format.fraction_bits;
  const std::uint32_t fraction = magnitude & ((1u << format.fraction_bits) - 1);
  const std::uint32_t significand = fraction | (field ? 1u << format.fraction_bits : 0u);
  const int exponent = (field ? static_cast<int>(field) : 1) - format.bias - format.fraction_bits;
  // significand < 2^11 times a power of two: exact. BF16's smallest exponent needs two steps to stay in range.
  const float value = exponent >= -126
                          ? static_cast<float>(significand) * power_of_two(exponent)
                          : static_cast<float>(significand) * power_of_two(exponent + 64) * power_of_two(-64);
  return f32_from_bits(sign | f32_bits(value));
}

/// What becomes of a NaN's sign.
enum class NanSign {
  drop,  // the GPU's cvt and the float entry of CUDA's header
  keep,  // PyTorch's CPU cast, ml_dtypes
};

/// cvt.rn.satfinite: overflow and infinity give the largest finite value; every NaN gives the positive NaN code.
constexpr std::uint32_t encode_satfinite(const FloatFormat& format, float x) {
  if (is_nan(x)) return format.sign() - 1;
  const std::uint32_t sign = (f32_bits(x) & f32_sign) ? format.sign() : 0;
  const std::uint32_t magnitude = round_magnitude(format, x);
  return sign | (magnitude > format.largest_finite ? format.largest_finite : magnitude);
}

/// The plain cast of frameworks: overflow gives infinity, or NaN where the format has no infinity.
constexpr std::uint32_t encode_nonsaturating(const FloatFormat& format, float x,
                                             NanSign nan_sign = NanSign::drop) {
  const std::uint32_t sign = (f32_bits(x) & f32_sign) ? format.sign() : 0;
  if (is_nan(x)) return (nan_sign == NanSign::keep ? sign : 0) | (format.sign() - 1);
  const std::uint32_t magnitude = round_magnitude(format, x);
  return sign | (magnitude > format.largest_finite ? format.largest_finite + 1 : magnitude);
}

}  // namespace fp8twin
