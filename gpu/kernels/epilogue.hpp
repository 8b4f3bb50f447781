// The plain epilogue: each thread rounds and stores its own registers, masked at D's ends.
//
//   lane 0 1 2 3 of a quad hold 2 columns each: 8 columns, 16 bytes of BF16, at a row; a warp's store meets 8 rows
//
// Right for every shape and stride, and slow: 2 to 4 bytes a thread. Step 7 stages the tile in shared memory instead.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void store_registers(Config config, const GemmArguments& g, const Tile& tile, u32 thread,
                                    Registers<Config::width>& total) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.tile_n / 2; ++i) {
    const Coordinate at = accumulator_coordinate(thread, i);
    const u32 row = tile.row0 + at.row, column = tile.column0 + at.column;
    if (row >= g.m || column >= g.n) continue;
    const u64 index = static_cast<u64>(row) * g.d_stride + column;
    if (config.output_f32) {
      st_global_f32(static_cast<float*>(g.d) + index, total[i]);
    } else {
      st_global_u16(static_cast<u16*>(g.d) + index, cvt_rn_bf16_f32(total[i]));
    }
  }
}

}  // namespace fp8twin
