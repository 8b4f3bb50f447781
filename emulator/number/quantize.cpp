#include "emulator/number/quantize.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/number/quantize_path.hpp"
#include "emulator/support/default_floats.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin {
namespace {

// What a format of x brings along: its loops, and the words that a block's amax needs.
const QuantizeLoops& loops_of(const QuantizePath& path, BF16) { return path.bf16; }
const QuantizeLoops& loops_of(const QuantizePath& path, F16) { return path.f16; }
const QuantizeLoops& loops_of(const QuantizePath& path, float) { return path.f32; }

float widen(BF16, std::uint32_t word) { return BF16{static_cast<std::uint16_t>(word)}.value(); }
float widen(F16, std::uint32_t word) { return F16{static_cast<std::uint16_t>(word)}.value(); }
float widen(float, std::uint32_t word) { return f32_from_bits(word); }

template <class T>
constexpr float format_max = std::numeric_limits<float>::max();
template <>
constexpr float format_max<BF16> = 0x1.fep127f;
template <>
constexpr float format_max<F16> = 65504.0f;

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

/// About so many elements at a time: they stay in the first-level cache between the search for amax and the cast.
constexpr std::int64_t run_elements = 4096, max_run_blocks = 64;

/// Blocks of columns side by side, all but the last of full width: [first, last) and the columns they cover.
struct ColumnRun {
  std::int64_t first, last, column, columns;
};

std::vector<ColumnRun> column_runs(const BlockGrid& grid) {
  const std::int64_t rows = std::min(grid.rows, grid.shape.rows);
  const std::int64_t most =
      std::clamp<std::int64_t>(run_elements / (rows * grid.shape.columns), 1, max_run_blocks);
  std::vector<ColumnRun> runs;
  for (std::int64_t b = 0; b < grid.column_blocks(); ++b) {
    const std::int64_t column = grid.column_start(b), columns = grid.column_start(b + 1) - column;
    const bool goes_on = !runs.empty() && b - runs.back().first < most &&
                         runs.back().columns == (b - runs.back().first) * grid.shape.columns;
    if (!goes_on) runs.push_back({b, b, column, 0});
    runs.back().last = b + 1;
    runs.back().columns += columns;
  }
  return runs;
}

template <class T>
class Quantizer {
 public:
  Quantizer(const Recipe& recipe, ScaleFormat format, const QuantizeLoops& loops)
      : recipe_(recipe), format_(format), loops_(loops) {}

  void quantize(const T* x, const Run& run, std::uint8_t* codes, float* scales) const {
    std::array<std::uint32_t, max_run_blocks> largest, without_nan;
    std::array<BlockFactor, max_run_blocks> factors;
    loops_.largest(x, run, false, largest.data());
    bool know_without_nan = false, divide = false;
    const std::int64_t blocks = (run.columns + run.block - 1) / run.block;
    for (std::size_t b = 0; b < static_cast<std::size_t>(blocks); ++b) {
      const float top = widen(T{}, largest[b]);
      const bool ignored = is_nan(top) && recipe_.amax_nan == AmaxNan::ignore;
      if (ignored && !std::exchange(know_without_nan, true)) loops_.largest(x, run, true, without_nan.data());
      const float amax = ignored ? widen(T{}, without_nan[b]) : top;
      const BlockScale by = block_scale(recipe_, format_, amax, format_max<T>);
      scales[b] = by.scale;
      const float top_quotient = by.divide ? top / by.factor : top * by.factor;
      // The comparison is false for a NaN as well: of x, of the factor, or of infinity by infinity.
      factors[b] = {by.factor, !(top_quotient <= 464.0f)};
      divide = by.divide;
    }
    loops_.encode(x, run, {divide, recipe_.cast.largest, recipe_.cast.nan}, factors.data(), codes);
  }

 private:
  const Recipe& recipe_;
  ScaleFormat format_;
  const QuantizeLoops& loops_;
};

template <class T>
void quantize_as(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, std::span<const T> x,
                 std::span<std::uint8_t> codes, std::span<float> scales, int threads, Simd simd) {
  check_size("quantize: x", x.size(), grid.elements());
  if (grid.elements() == 0) return;  // however many columns a header claims
  const Quantizer<T> quantizer(recipe, format, loops_of(quantize_path(simd), T{}));
  const std::vector<ColumnRun> runs = column_runs(grid);
  for_row_blocks(grid, threads, [&](std::int64_t row_block) {
    const auto [first, last] = rows_of(grid, row_block);
    for (const ColumnRun& blocks : runs) {
      const std::int64_t at = first * grid.columns + blocks.column;
      quantizer.quantize(x.data() + at, {last - first, blocks.columns, grid.columns, grid.shape.columns},
                         codes.data() + at, scales.data() + row_block * grid.column_blocks() + blocks.first);
    }
  });
}

/// `decode` is a path's loop for T, called once for each row of a block.
template <class T, class Decode>
void dequantize_as(const BlockGrid& grid, std::span<const std::uint8_t> codes, std::span<const float> scales,
                   std::span<T> x, int threads, const Decode& decode) {
  check_size("dequantize: codes", codes.size(), grid.elements());
  check_size("dequantize: scales", scales.size(), grid.scales());
  check_size("dequantize: x", x.size(), grid.elements());
  const DefaultFloats floats;
  for_row_blocks(grid, threads, [&](std::int64_t row_block) {
    const auto [first, last] = rows_of(grid, row_block);
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t b = 0; b < grid.column_blocks(); ++b) {
        const float scale = scales[static_cast<std::size_t>(row_block * grid.column_blocks() + b)];
        const std::int64_t column = grid.column_start(b), at = row * grid.columns + column;
        decode(codes.data() + at, grid.column_start(b + 1) - column, scale, x.data() + at);
      }
    }
  });
}

}  // namespace

const QuantizePath& quantize_path([[maybe_unused]] Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::avx512) return quantize_avx512;
  if (simd == Simd::avx2) return quantize_avx2;
#endif
  return quantize_portable;
}

void quantize(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x,
              std::span<std::uint8_t> codes, std::span<float> scales, int threads, Simd simd) {
  check_size("quantize: codes", codes.size(), grid.elements());
  check_size("quantize: scales", scales.size(), grid.scales());
  const DefaultFloats floats;
  std::visit([&](auto values) { quantize_as(recipe, format, grid, values, codes, scales, threads, simd); },
             x);
}

void dequantize(const BlockGrid& grid, std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::span<float> x, int threads, Simd simd) {
  dequantize_as(grid, codes, scales, x, threads, quantize_path(simd).decode_f32);
}

void dequantize(const BlockGrid& grid, std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::span<BF16> x, int threads, Simd simd) {
  static_assert(sizeof(BF16) == sizeof(std::uint16_t));
  const auto decode = [&](const std::uint8_t* from, std::int64_t count, float scale, BF16* to) {
    quantize_path(simd).decode_bf16(from, count, scale, &to->code);
  };
  dequantize_as(grid, codes, scales, x, threads, decode);
}

}  // namespace fp8twin
