// The scales of B, 32 K blocks ahead: lane l of every warp holds that of K block 32 w + l.
//
//   memory     b_scale[row][0 .. 31 | 32 .. 63 | ...]       one coalesced load of 128 bytes for each scale block met
//   a warp     lane 0 .. 31
//   K block k  shfl.sync.idx: the value of lane k % 32, for all
//
// A float for each K block, loaded when it is needed, would cost every eighth of them a trip to memory, on the path of
// the promotion. Here the next window is on its way while this one is used; where a tile's K ends, the next window is the
// first of the next tile.
#pragma once

#include "gpu/kernels/pipeline.hpp"
#include "gpu/kernels/promotion.hpp"

namespace fp8twin {

struct ScaleWindow {
  float now[3], next[3];

  /// Row `row` of a group's scales, which begin at row `first` of b_scale, and the two after it, from K block `block` on,
  /// into `next`. Zero past the ends.
  template <class Config>
  FP8TWIN_DEVICE void fetch(Config config, const GemmArguments& g, u32 first, u32 row, u32 block) {
    const u32 k_blocks = k_blocks_of(g), rows = (g.n + 127) / 128, column = block + laneid();
    const u32 met = config.swapped ? 1 : scale_blocks_met(config.tile_n);
    FP8TWIN_UNROLL
    for (u32 i = 0; i < met; ++i) {
      const bool inside = row + i < rows && column < k_blocks;
      const u64 index = static_cast<u64>(first + row + i) * k_blocks + column;
      next[i] = inside ? ld_global_nc_f32(g.b_scale + index) : 0;
    }
  }

  template <class Config>
  FP8TWIN_DEVICE void turn(Config config) {
    FP8TWIN_UNROLL
    for (u32 i = 0; i < 3; ++i) {
      if (i < (config.swapped ? 1 : scale_blocks_met(config.tile_n))) now[i] = next[i];
    }
  }

  /// By all lanes.
  FP8TWIN_DEVICE float at(u32 i, u32 block) const { return shfl_sync_idx_b32(now[i], block % 32, full_warp); }
};

}  // namespace fp8twin
