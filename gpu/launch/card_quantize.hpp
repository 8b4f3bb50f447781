// Quantises on the card: upload, launch, download; and the launches alone, for whoever has the arrays there. The twin of
// the first is machine_quantize.hpp.
//
//   Buffer<...> x, codes, scales, transposed;
//   launch_quantize(kernels, recipe, format, grid, input, x.device(), codes.device(), scales.device());
//   launch_scale_layout(kernels, rows, k_blocks, scales.device(), transposed.device());       then a GEMM
#pragma once

#include <span>
#include <vector>

#include "emulator/number/quantize.hpp"
#include "gpu/kernels/quantize_config.hpp"
#include "gpu/launch/kernel_cache.hpp"

namespace fp8twin {

/// Addresses on the card, of whole arrays. Does not wait.
void launch_quantize(KernelCache& kernels, const Recipe& recipe, ScaleFormat format, const BlockGrid& grid,
                     InputFormat input, const void* x, u8* codes, float* scales);

/// From [rows, k_blocks] to [k_blocks, rows rounded up to 4]. Does not wait.
void launch_scale_layout(KernelCache& kernels, i64 rows, i64 k_blocks, const float* from, float* to);

/// As quantize() of emulator/number/quantize.hpp, and its bits.
void quantize_on_card(KernelCache& kernels, const Recipe& recipe, ScaleFormat format, const BlockGrid& grid,
                      const Values& x, std::span<std::uint8_t> codes, std::span<float> scales);

/// As transpose_scales_on_machine().
std::vector<float> transpose_scales_on_card(KernelCache& kernels, i64 rows, i64 k_blocks,
                                            std::span<const float> a_scale);

}  // namespace fp8twin
