// Block quantisation: BF16, F16 or F32 to E4M3 codes and one scale a block, and back. Recipes: recipe.hpp.
// The loops, for each path of vector instructions: quantize_path.hpp.
//
// Every x is first widened to binary32, exactly. A block's scale is s; a code c stands for c * s.
//
// Special blocks, where recipes differ most (f32 scales; 0 has the sign of x):
//
//   block holds    deepgemm, deepgemm-cpu,     deepseek     vllm          sglang       te
//                  eager
//   zeros only     s = floor/448, codes 0      the same     the same      the same     s = 1, codes 0
//   amax < floor   s = floor/448               the same     the same      the same     multiplier <= max
//   one NaN        s NaN, every code 0x7f      NaN left out of amax; its own code is 0x7f, by vllm 0xfe
//   NaN only       the same                    s = floor/448, codes 0x7f; vllm 0xfe    s = 1, codes 0x7f
//   an infinity    s inf; x 0, inf 0x7f        the same     inf is 0xfe   the same     s = 1; inf 0x7e
//
// floor is 1e-4 (deepgemm, deepgemm-cpu, deepseek, eager), 1e-10 (vllm, sglang) or none (te); max is the
// largest finite value of the input's format. No finite block overflows: the largest |x| is cast from 448,
// give or take a few roundings.
//
// With ue8m0 scales: deepgemm, deepgemm-cpu and eager give a block with a NaN or an infinity s = 2^127, so
// finite x 0, NaN 0x7f, infinity 0x7f with its sign; vllm's s is at least 2^-33; te's multiplier of a tiny
// block is the power of two below max. sglang's integers leave their range on an infinite block; its f32 row
// stands there instead.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "emulator/number/bf16.hpp"
#include "emulator/number/block_grid.hpp"
#include "emulator/number/f16.hpp"
#include "emulator/number/recipe.hpp"
#include "emulator/support/simd.hpp"

namespace fp8twin {

/// The numbers to quantise, in the format they came in.
using Values = std::variant<std::span<const BF16>, std::span<const F16>, std::span<const float>>;

/// Quantises x, row-major as `grid` says. `codes` takes grid.elements() bytes, `scales` grid.scales() floats.
/// Throws Error when a span has another size. The result depends neither on
/// `threads` (0: one a core) nor on `simd`, which must run here.
void quantize(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x,
              std::span<std::uint8_t> codes, std::span<float> scales, int threads = 0,
              Simd simd = best_simd());

/// fl32(code * scale), every NaN canonical. With BF16 output rounded once more, as cvt.rn.bf16.f32 does.
void dequantize(const BlockGrid& grid, std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::span<float> x, int threads = 0, Simd simd = best_simd());
void dequantize(const BlockGrid& grid, std::span<const std::uint8_t> codes, std::span<const float> scales,
                std::span<BF16> x, int threads = 0, Simd simd = best_simd());

}  // namespace fp8twin
