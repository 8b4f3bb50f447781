// Operands swapped: the tile is one of D transposed, so that B's rows, the weights, feed wgmma's 64-wide side.
//
//   straight     64 rows of A   x  tile_n rows of B        few rows of A (tokens) leave most of the 64 idle
//   swapped      64 rows of B   x  tile_n rows of A        tile_n = 8, 16, ...: no row of a tile is idle
//
//   P[weight][token]           a register's column is a token, hence a scale of A for each column, and one of B for the
//                              slab (64 rows of B lie in one scale block)
//   s = mul_rn(scale_a, scale_b) is the same product: the bits of D do not know which side its operands were on
//
// On its way out the tile is turned back: stmatrix.trans writes each 8 x 8 matrix with rows and columns exchanged, so a
// staged row is a token's 64 outputs.
//
//   staging, BF16: one panel of [tile_n][64 weights] = 128 bytes a row;  FP32: two of [tile_n][32 weights]
#pragma once

#include "gpu/kernels/staging.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void stage_swapped_bf16(Config config, const Panels& panels, u32 thread,
                                       Registers<Config::width>& total) {
  const u32 lane = thread % 32, weight = thread / 32 * 16 + lane / 8 % 2 * 8;  // matrices 0, 2 and 1, 3
  const u32 groups = config.tile_n / 8;
  FP8TWIN_UNROLL
  for (u32 group = 0; group + 1 < groups; group += 2) {  // matrices 2 and 3: the next eight tokens
    const u32 i = 4 * group;
    stmatrix_m8n8_x4_b16<true>(
        panels.address(8 * (group + lane / 16) + lane % 8, 2 * weight),
        {cvt_rn_bf16x2_f32(total[i + 1], total[i]), cvt_rn_bf16x2_f32(total[i + 3], total[i + 2]),
         cvt_rn_bf16x2_f32(total[i + 5], total[i + 4]), cvt_rn_bf16x2_f32(total[i + 7], total[i + 6])});
  }
  if (groups % 2 == 1) {
    const u32 i = 4 * (groups - 1);
    stmatrix_m8n8_x2_b16<true>(panels.address(8 * (groups - 1) + lane % 8, 2 * weight),
                               cvt_rn_bf16x2_f32(total[i + 1], total[i]),
                               cvt_rn_bf16x2_f32(total[i + 3], total[i + 2]));
  }
}

template <class Config>
FP8TWIN_DEVICE void stage_swapped_f32(Config config, const Panels& panels, u32 thread,
                                      Registers<Config::width>& total) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.tile_n / 2; ++i) {
    const Coordinate at = accumulator_coordinate(thread, i);
    st_shared_f32(panels.address(at.column, 4 * at.row), total[i]);
  }
}

/// stage_slab for 64 columns of D, and tile_n rows.
template <class Config>
FP8TWIN_DEVICE void stage_swapped_slab(Config config, u32 staging, u32 thread,
                                       Registers<Config::width>& total) {
  const Panels panels = {staging, SwizzleMode::b128, config.tile_n};
  if (config.output_f32) {
    stage_swapped_f32(config, panels, thread, total);
  } else {
    stage_swapped_bf16(config, panels, thread, total);
  }
}

/// copy_slab likewise, from (row0, column0) on.
template <class Config>
FP8TWIN_DEVICE void copy_swapped_slab(Config config, const TmaGemmArguments& arguments, u32 staging, u32 row0,
                                      u32 column0) {
  const Panels panels = {staging, SwizzleMode::b128, config.tile_n};
  const u32 element = config.output_f32 ? 4 : 2;
  for (u32 byte = 0; byte < 64 * element; byte += 128) {
    store_panel(config, arguments.d, static_cast<i32>(column0 + byte / element), static_cast<i32>(row0),
                panels.linear(0, byte));
  }
  cp_async_bulk_commit_group();
}

}  // namespace fp8twin
