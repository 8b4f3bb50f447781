// From a recipe and a grid of blocks to launches of the kernel `quantize`: one plan for the machine and for the card.
//
//   Recipe, ScaleFormat, block shape, type of x   ->   MachineQuantizeConfig     (the card's: gpu/jit/quantize_sources.hpp)
//   BlockGrid, addresses                          ->   QuantizeLaunch, ...
//
// One launch covers columns whose blocks lie side by side, all but the last of full width: the whole array, or, where
// blocks start anew with each group along K, a group at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/number/quantize.hpp"
#include "gpu/kernels/quantize_config.hpp"
#include "gpu/kernels/scale_layout.hpp"

namespace fp8twin {

/// `block_rows`: 1 or 128.
MachineQuantizeConfig quantize_config(const Recipe& recipe, ScaleFormat format, std::int64_t block_rows,
                                      InputFormat input);

InputFormat input_format(const Values& x);
std::string_view input_format_name(InputFormat input);  // "bf16", "f16", "f32"
u64 input_bytes(InputFormat input);                     // of one element

/// "quantize_te_ue8m0_128x128_bf16": the entry on the card.
std::string quantize_name(const Recipe& recipe, ScaleFormat format, std::int64_t block_rows,
                          InputFormat input);

/// Throws Error unless the arrays have as many elements as the grid.
void need_quantize_sizes(const BlockGrid& grid, const Values& x, u64 codes, u64 scales);

struct QuantizeLaunch {
  u32 grid_x, grid_y;  // blocks of quantize_threads
  QuantizeArguments arguments;
};

/// The addresses are where the whole arrays begin, on the host or on the card. None for an array without elements.
/// Throws Error for extents that the kernel does not count to, and for blocks that are neither 1x128 nor 128x128.
std::vector<QuantizeLaunch> quantize_launches(const BlockGrid& grid, InputFormat input, const void* x,
                                              u8* codes, float* scales);

struct ScaleLayoutLaunch {
  u32 grid_x, grid_y;  // blocks of scale_layout_threads
  ScaleLayoutArguments arguments;
};

/// Throws Error unless `scales` is rows x k_blocks.
void need_scales(i64 rows, i64 k_blocks, u64 scales);
/// Elements of a row of the transposed scales: `rows` rounded up to 16 bytes, at least one such piece.
u64 scale_layout_stride(i64 rows);
/// From [rows, k_blocks] to [k_blocks, scale_layout_stride(rows)]; neither may be 0.
ScaleLayoutLaunch scale_layout_launch(i64 rows, i64 k_blocks, const float* from, float* to);

}  // namespace fp8twin
