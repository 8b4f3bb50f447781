#include "emulator/number/quantize.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "emulator/number/e4m3.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin {
namespace {

// Rows are worked through in chunks that fit the first-level cache; every loop over a chunk is branch-free,
// so that the compiler makes vector code of it.
constexpr std::int64_t chunk = 128;

float widen(BF16 x) { return x.value(); }
float widen(float x) { return x; }

/// F16::value() without a branch: the exponent moves into binary32's place by a multiplication, which is
/// exact and normalises subnormals; infinity and NaN have the top exponent in both formats.
float widen(F16 x) {
  const std::uint32_t magnitude = x.code & 0x7fffu;
  const std::uint32_t finite = f32_bits(f32_from_bits(magnitude << 13) * 0x1p112f);
  const std::uint32_t top =
      magnitude >= 0x7c00 ? f32_infinity : 0u;  // 65536 or more became 2^16 * 1.fraction
  return f32_from_bits(finite | top | ((x.code & 0x8000u) << 16));
}

template <class T>
constexpr float format_max = std::numeric_limits<float>::max();
template <>
constexpr float format_max<BF16> = 0x1.fep127f;
template <>
constexpr float format_max<F16> = 65504.0f;

/// The largest magnitude bits among x[0..count); as integers NaN lies above infinity, so one maximum serves
/// both NaN rules: `ignore` maps NaN to zero first.
template <class T>
std::int32_t largest_magnitude(const T* x, std::int64_t count, bool ignore_nan) {
  const std::int32_t limit = ignore_nan ? static_cast<std::int32_t>(f32_infinity) : 0x7fffffff;
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto magnitude = static_cast<std::int32_t>(f32_bits(widen(x[i])) & ~f32_sign);
    largest = std::max(largest, magnitude > limit ? 0 : magnitude);
  }
  return largest;
}

template <class T>
void encode(const T* x, std::int64_t count, const BlockScale& by, E4M3Cast cast, std::uint8_t* codes) {
  std::array<float, chunk> quotients;
  float* const quotient = quotients.data();
  for (std::int64_t done = 0; done < count; done += chunk, x += chunk, codes += chunk) {
    const std::int64_t now = std::min(chunk, count - done);
    if (by.divide) {
      for (std::int64_t i = 0; i < now; ++i) quotient[i] = widen(x[i]) / by.factor;
    } else {
      for (std::int64_t i = 0; i < now; ++i) quotient[i] = widen(x[i]) * by.factor;
    }
    for (std::int64_t i = 0; i < now; ++i) codes[i] = encode_e4m3(quotient[i], cast);
  }
}

void check_size(std::string_view what, std::size_t found, std::int64_t needed) {
  if (static_cast<std::int64_t>(found) != needed) {
    throw Error(fmt::format("{}: {} elements were given, the block grid needs {}", what, found, needed));
  }
}

/// Calls body(row block) for every row block of every expert, several at a time handed to one thread where
/// they are thin.
template <class Body>
void for_row_blocks(const BlockGrid& grid, int threads, const Body& body) {
  if (grid.elements() == 0) return;  // however many empty rows a header claims
  const std::int64_t count = grid.experts * grid.row_blocks();
  const std::int64_t batch = std::max<std::int64_t>(1, 64 / grid.shape.rows);
  parallel_for((count + batch - 1) / batch, threads, [&](std::int64_t index, int) {
    const std::int64_t end = std::min(count, (index + 1) * batch);
    for (std::int64_t block = index * batch; block < end; ++block) body(block);
  });
}

/// The rows of row block number `block`, counted over all experts: [first, last) of the experts' rows laid
/// end to end.
struct Rows {
  std::int64_t first, last;
};
Rows rows_of(const BlockGrid& grid, std::int64_t block) {
  const std::int64_t expert = block / grid.row_blocks(), inside = block % grid.row_blocks() * grid.shape.rows;
  return {expert * grid.rows + inside, expert * grid.rows + std::min(inside + grid.shape.rows, grid.rows)};
}

template <class T>
void quantize_as(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, std::span<const T> x,
                 std::span<std::uint8_t> codes, std::span<float> scales, int threads) {
  check_size("quantize: x", x.size(), grid.elements());
  const bool ignore_nan = recipe.amax_nan == AmaxNan::ignore;
  for_row_blocks(grid, threads, [&](std::int64_t row_block) {
    const auto [first, last] = rows_of(grid, row_block);
    for (std::int64_t b = 0; b < grid.column_blocks(); ++b) {
      const std::int64_t column = grid.column_start(b);
      const std::int64_t count = grid.column_start(b + 1) - column;
      std::int32_t amax = 0;
      for (std::int64_t row = first; row < last; ++row) {
        amax = std::max(amax, largest_magnitude(x.data() + row * grid.columns + column, count, ignore_nan));
      }
      const BlockScale by =
          block_scale(recipe, format, f32_from_bits(static_cast<std::uint32_t>(amax)), format_max<T>);
      scales[static_cast<std::size_t>(row_block * grid.column_blocks() + b)] = by.scale;
      for (std::int64_t row = first; row < last; ++row) {
        const std::int64_t at = row * grid.columns + column;
        encode(x.data() + at, count, by, recipe.cast, codes.data() + at);
      }
    }
  });
}

/// The value of every code, for look-up.
constexpr std::array<float, 256> code_values = [] {
  std::array<float, 256> values{};
  for (std::size_t code = 0; code < 256; ++code) values[code] = E4M3{static_cast<std::uint8_t>(code)}.value();
  return values;
}();

template <class T>
void dequantize_as(const BlockGrid& grid, std::span<const std::uint8_t> codes, std::span<const float> scales,
                   std::span<T> x, int threads) {
  check_size("dequantize: codes", codes.size(), grid.elements());
  check_size("dequantize: scales", scales.size(), grid.scales());
  check_size("dequantize: x", x.size(), grid.elements());
  for_row_blocks(grid, threads, [&](std::int64_t row_block) {
    const auto [first, last] = rows_of(grid, row_block);
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t b = 0; b < grid.column_blocks(); ++b) {
        const float scale = scales[static_cast<std::size_t>(row_block * grid.column_blocks() + b)];
        const std::int64_t begin = row * grid.columns + grid.column_start(b);
        const std::int64_t end = row * grid.columns + grid.column_start(b + 1);
        for (std::int64_t i = begin; i < end; ++i) {
          const float value = mul_rn(code_values[codes[static_cast<std::size_t>(i)]], scale);
          if constexpr (std::is_same_v<T, BF16>) {
            x[static_cast<std::size_t>(i)] = BF16::rn(value);
          } else {
            x[static_cast<std::size_t>(i)] = value;
          }
        }
      }
    }
  });
}

}  // namespace

void quantize(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x,
              std::span<std::uint8_t> codes, std::span<float> scales, int threads) {
  check_size("quantize: codes", codes.size(), grid.elements());
  check_size("quantize: scales", scales.size(), grid.scales());
  std::visit([&](auto values) { quantize_as(recipe, format, grid, values, codes, scales, threads); }, x);
}

void dequantize(const BlockGrid& grid, std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::span<float> x, int threads) {
  dequantize_as(grid, codes, scales, x, threads);
}

void dequantize(const BlockGrid& grid, std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::span<BF16> x, int threads) {
  dequantize_as(grid, codes, scales, x, threads);
}

}  // namespace fp8twin
