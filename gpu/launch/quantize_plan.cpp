#include "gpu/launch/quantize_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/kernels/groups.hpp"

namespace fp8twin {
namespace {

/// What a grid may have along x, and along y (CUDA C++ Programming Guide, "Technical Specifications").
constexpr i64 most_grid_x = 0x7fffffff, most_grid_y = 65535;

ScaleFormula formula_of(ScaleRule rule) {
  switch (rule) {
    case ScaleRule::divide:
      return ScaleFormula::divide;
    case ScaleRule::multiply:
      return ScaleFormula::multiply;
    case ScaleRule::from_multiplier:
      break;
  }
  return ScaleFormula::from_multiplier;
}

QuotientFormula formula_of(QuotientRule rule) {
  switch (rule) {
    case QuotientRule::times_reciprocal:
      return QuotientFormula::times_reciprocal;
    case QuotientRule::divide:
      return QuotientFormula::divide;
    case QuotientRule::times_448_over_amax:
      return QuotientFormula::times_448_over_amax;
    case QuotientRule::times_448_times_reciprocal:
      break;
  }
  return QuotientFormula::times_448_times_reciprocal;
}

PowerFormula formula_of(PowerRule rule) {
  switch (rule) {
    case PowerRule::ceil_bits_clamped:
      return PowerFormula::ceil_bits_clamped;
    case PowerRule::ceil_bits:
      return PowerFormula::ceil_bits;
    case PowerRule::ceil_log2:
      return PowerFormula::ceil_log2;
    case PowerRule::floor_multiplier:
      break;
  }
  return PowerFormula::floor_multiplier;
}

void need_countable(const char* what, i64 found, i64 most) {
  if (found <= most) return;
  throw Error(
      fmt::format("quantize: {} {}; the kernel counts to {}, engine model further", found, what, most));
}

void need_size(const char* what, u64 found, i64 needed) {
  if (found == static_cast<u64>(needed)) return;
  throw Error(
      fmt::format("quantize: {}: {} elements were given, the block grid needs {}", what, found, needed));
}

/// The blocks [first, last) of columns that one launch covers: the next run of full width, and one that may be partial.
i64 run_end(const BlockGrid& grid, i64 first) {
  i64 last = first + 1;
  while (last < grid.column_blocks() &&
         grid.column_start(last) == grid.column_start(first) + (last - first) * grid.shape.columns) {
    ++last;
  }
  return last;
}

bool multiple(const void* address, u64 bytes) { return reinterpret_cast<u64>(address) % bytes == 0; }

}  // namespace

MachineQuantizeConfig quantize_config(const Recipe& recipe, ScaleFormat format, std::int64_t block_rows,
                                      InputFormat input) {
  return {.block_rows = static_cast<u32>(block_rows),
          .input = input,
          .ignore_nan = recipe.amax_nan == AmaxNan::ignore,
          .amax_floor = f32_bits(recipe.amax_floor),
          .scale = formula_of(recipe.scale),
          .quotient = formula_of(recipe.quotient),
          .power = format == ScaleFormat::f32 ? PowerFormula::none : formula_of(recipe.power),
          .power_floor = f32_bits(recipe.power_floor),
          .largest_code = recipe.cast.largest,
          .nan_code = recipe.cast.nan};
}

InputFormat input_format(const Values& x) {
  return std::holds_alternative<std::span<const BF16>>(x)  ? InputFormat::bf16
         : std::holds_alternative<std::span<const F16>>(x) ? InputFormat::f16
                                                           : InputFormat::f32;
}

std::string_view input_format_name(InputFormat input) {
  return input == InputFormat::bf16 ? "bf16" : input == InputFormat::f16 ? "f16" : "f32";
}

u64 input_bytes(InputFormat input) { return input == InputFormat::f32 ? 4 : 2; }

std::string quantize_name(const Recipe& recipe, ScaleFormat format, std::int64_t block_rows,
                          InputFormat input) {
  std::string name = fmt::format("quantize_{}_{}_{}x128_{}", recipe.name, scale_format_name(format),
                                 block_rows, input_format_name(input));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void need_quantize_sizes(const BlockGrid& grid, const Values& x, u64 codes, u64 scales) {
  need_size("x", std::visit([](auto values) { return values.size(); }, x), grid.elements());
  need_size("codes", codes, grid.elements());
  need_size("scales", scales, grid.scales());
}

std::vector<QuantizeLaunch> quantize_launches(const BlockGrid& grid, InputFormat input, const void* x,
                                              u8* codes, float* scales) {
  if (grid.shape != block_1x128 && grid.shape != block_128x128) {
    throw Error(fmt::format("quantize: blocks of {}x{}; the kernel has 1x128 and 128x128", grid.shape.rows,
                            grid.shape.columns));
  }
  std::vector<QuantizeLaunch> launches;
  if (grid.elements() == 0) return launches;
  const bool by_rows = grid.shape == block_1x128;
  const i64 rows = by_rows ? grid.experts * grid.rows : grid.rows;
  need_countable("rows", rows, most_grid_x);
  need_countable("columns", grid.columns, most_grid_x - 1024);  // less what a warp may look past the end
  need_countable("blocks of rows", grid.experts * grid.row_blocks(), most_grid_x);

  const u64 bytes = input_bytes(input), pitch = static_cast<u64>(grid.columns);
  for (i64 first = 0, last; first < grid.column_blocks(); first = last) {
    last = run_end(grid, first);
    const i64 column = grid.column_start(first), blocks = last - first;
    const void* const run = static_cast<const std::byte*>(x) + static_cast<u64>(column) * bytes;
    u8* const run_codes = codes + column;
    const i64 across = by_rows ? (blocks + row_blocks_of_a_warp - 1) / row_blocks_of_a_warp : blocks;
    launches.push_back(
        {.grid_x = static_cast<u32>(by_rows ? (rows + quantize_warps - 1) / quantize_warps
                                            : grid.experts * grid.row_blocks()),
         .grid_y = static_cast<u32>(std::min(across, most_grid_y)),
         .arguments = {.x = run,
                       .codes = run_codes,
                       .scales = scales + first,
                       .pitch = pitch,
                       .scale_pitch = static_cast<u64>(grid.column_blocks()),
                       .rows = static_cast<u32>(rows),
                       .columns = static_cast<u32>(grid.column_start(last) - column),
                       .row_blocks = static_cast<u32>(grid.row_blocks()),
                       .column_blocks = static_cast<u32>(blocks),
                       .vectors = pitch % 4 == 0 && multiple(run, 4 * bytes) && multiple(run_codes, 4)}});
  }
  return launches;
}

void need_scales(i64 rows, i64 k_blocks, u64 scales) {
  if (rows < 0 || k_blocks < 0) {
    throw Error(fmt::format("scale layout: {} rows of {} K blocks; 0 or more are needed", rows, k_blocks));
  }
  need_size("scales", scales, rows * k_blocks);
}

u64 scale_layout_stride(i64 rows) { return std::max<u64>(scale_rows(static_cast<u32>(rows)), 4); }

ScaleLayoutLaunch scale_layout_launch(i64 rows, i64 k_blocks, const float* from, float* to) {
  need_countable("rows of scales", rows, most_grid_x - 1024);
  need_countable("K blocks", k_blocks, most_grid_x - 1024);
  const u64 stride = scale_layout_stride(rows);
  const i64 squares = (k_blocks + scale_square - 1) / scale_square;
  return {static_cast<u32>((stride + scale_square - 1) / scale_square),
          static_cast<u32>(std::min(squares, most_grid_y)),
          {from, to, stride, static_cast<u32>(rows), static_cast<u32>(k_blocks)}};
}

}  // namespace fp8twin
