// A slab of which some rows do not count: each thread stores its own registers, row by row, and writes no other row of D.
//
//   TMA stores whole boxes; a box that hangs over a group's end would write rows of the next group, or rows past a mask,
//   which belong to whoever owns the array. At most one slab of a group and column of tiles is such a one.
//
// Where D = c + product is stored as BF16, the same threads add c beforehand, whatever the slab. Where it is FP32, D begins
// as c, and what is stored is added to it: by TMA (cp.reduce.async.bulk.tensor) for whole slabs, here with an add.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/groups.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// Where register i of a thread lies in D; `row` of the group.
template <class Config>
FP8TWIN_DEVICE Coordinate place_in_group(Config config, const Tile& tile, u32 slab_number, u32 thread,
                                         u32 i) {
  const Coordinate at = accumulator_coordinate(thread, i);
  const u32 row = tile.row0 + 64 * slab_number + at.row, column = tile.column0 + at.column;
  return config.swapped ? Coordinate{column, row} : Coordinate{row, column};
}

FP8TWIN_DEVICE u64 index_in_d(const GemmArguments& g, const Group& group, Coordinate at) {
  return static_cast<u64>(group.d_row + at.row) * g.d_stride + at.column;
}

/// Adds c to a slab's totals, before they are rounded to BF16.
template <class Config>
FP8TWIN_DEVICE void add_c(Config config, const GemmArguments& g, const Group& group, const Tile& tile,
                          u32 slab_number, u32 thread, Registers<Config::width>& total) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.tile_n / 2; ++i) {
    const Coordinate at = place_in_group(config, tile, slab_number, thread, i);
    if (at.row >= group.rows || at.column >= g.n) continue;
    total[i] = add_rn(ld_global_nc_f32(g.c + index_in_d(g, group, at)), total[i]);
  }
}

template <class Config>
FP8TWIN_DEVICE void store_rows(Config config, const GemmArguments& g, const Group& group, const Tile& tile,
                               u32 slab_number, u32 thread, Registers<Config::width>& total) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.tile_n / 2; ++i) {
    const Coordinate at = place_in_group(config, tile, slab_number, thread, i);
    if (at.row >= group.rows || at.column >= g.n) continue;
    const u64 index = index_in_d(g, group, at);
    if (!config.output_f32) {
      st_global_u16(static_cast<u16*>(g.d) + index, cvt_rn_bf16_f32(total[i]));
    } else {
      float* to = static_cast<float*>(g.d) + index;
      st_global_f32(to, config.accumulate ? add_rn(ld_global_f32(to), total[i]) : total[i]);
    }
  }
}

}  // namespace fp8twin
