// What a launch of the kernel `quantize` fixes before it starts: a recipe's rules, without its name.
//
//   on the card           an empty struct of static constexpr members, written by gpu/jit: every rule folds
//   on the emulated CPU   MachineQuantizeConfig, the same names at run time
//
// gpu/launch/quantize_plan.cpp makes them of a Recipe (emulator/number/recipe.hpp says where each rule comes from).
// Floats that are compared are kept as bits: of floats without a sign the order is that of integers.
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin {

inline constexpr u32 f32_one_bits = 0x3f800000, f32_infinity_bits = 0x7f800000, f32_magnitude = 0x7fffffff;

enum class InputFormat : u32 { bf16, f16, f32 };

/// s, what is stored: amax / 448, amax * fl(1/448), or 1 / fl(448 / amax).
enum class ScaleFormula : u32 { divide, multiply, from_multiplier };

/// What is cast to E4M3, each step rounded: x * (1/s), x / s, x * (448 / amax), x * (448 * (1/amax)).
enum class QuotientFormula : u32 {
  times_reciprocal,
  divide,
  times_448_over_amax,
  times_448_times_reciprocal
};

/// How s becomes a power of two; none with f32 scales. The last one rounds 448 / amax instead.
enum class PowerFormula : u32 { none, ceil_bits_clamped, ceil_bits, ceil_log2, floor_multiplier };

struct MachineQuantizeConfig {
  u32 block_rows = 1;  // 1 or 128: rows that share a scale; always with 128 columns
  InputFormat input = InputFormat::bf16;
  bool ignore_nan = false;  // in amax
  u32 amax_floor = 0;       // bits
  ScaleFormula scale = ScaleFormula::divide;
  QuotientFormula quotient = QuotientFormula::divide;
  PowerFormula power = PowerFormula::none;
  u32 power_floor = 0;      // bits of the smallest s that ceil_log2 sees
  u32 largest_code = 0x7e;  // of a magnitude that is too large: 0x7e saturates, 0x7f is a NaN with x's sign
  u32 nan_code = 0x7f;      // of every NaN
};

/// The bits of the largest finite value of an input format.
constexpr u32 largest_input_bits(InputFormat input) {
  return input == InputFormat::bf16  ? 0x7f7f0000
         : input == InputFormat::f16 ? 0x477fe000  // 65504
                                     : 0x7f7fffff;
}

/// Threads of a block, and its warps.
inline constexpr u32 quantize_threads = 256, quantize_warps = quantize_threads / 32;
/// Blocks of 1x128 that a warp works on at a time, side by side in one row.
inline constexpr u32 row_blocks_of_a_warp = 4;
/// Shared memory of a launch: a word for each warp.
inline constexpr u32 quantize_shared_bytes = 4 * quantize_warps;

/// x, row-major [experts, rows, columns] with `pitch` elements from row to row, and what it becomes. Experts share no
/// block. Columns, and blocks of columns, may be a part of a wider array's: the pointers stand at the first one.
struct QuantizeArguments {
  const void* x;  // BF16, F16 or F32
  u8* codes;      // as x lies
  float* scales;  // scale_pitch from one row of blocks to the next
  u64 pitch, scale_pitch;
  u32 rows, columns;              // of one expert, below 2^31; with 1x128 blocks all experts' rows are one's
  u32 row_blocks, column_blocks;  // of one expert
  bool vectors;                   // every fourth column of every row begins at a multiple of four elements
};

}  // namespace fp8twin
