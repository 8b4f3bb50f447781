// The warps that store, in steps 8 and 9: one for each consumer warpgroup, out of the producer's.
//
//   consumer warpgroup                          its storing warp, one thread
//   wait staged_empty[slab]                     wait staged_full[slab]         an arrival of each of four warps
//   stmatrix ...                                fence.proxy.async              for what those warps wrote
//   arrive at staged_full[slab]                 TMA: staging rows -> D
//   next promotion                              until they have been read: arrive at staged_empty[slab]
//
//   A ring as that of the K blocks, in the other direction. What a store costs beside its conversion, a proxy fence (170
//   cycles), a meeting of four warps, the copies and the wait for the staging rows, is not on the consumers' path.
//
// The fence stands with the thread that copies: it has acquired the stores of the others at the barrier, and they come
// before its fence as its own would (PTX ISA, causality order across proxies).
#pragma once

#include "gpu/kernels/overlap_producer.hpp"
#include "gpu/kernels/swapped.hpp"

namespace fp8twin {

/// Where slab `slab` of consumer warpgroup `number` is staged.
template <class Config>
constexpr u32 staging_slot(Config config, u32 number, u32 slab) {
  return number * staged_slabs(config) + slab % staged_slabs(config);
}

/// By one thread, before init_barriers(), whose fence speaks for these too: four warps fill a slab, one thread frees it.
FP8TWIN_DEVICE void init_staging_barriers(const SharedLayout& shared) {
  for (u32 slab = 0; slab < shared.staged; ++slab) {
    mbarrier_init_b64(shared.staged_full(slab), warpgroup / 32);
    mbarrier_init_b64(shared.staged_empty(slab), 1);
  }
}

/// Rows of D that a slab of a tile covers and that count; of all 64, or where operands are swapped of tile_n.
template <class Config>
FP8TWIN_DEVICE u32 rows_that_count(Config config, const Group& group, const Tile& tile, u32 slab_number) {
  const u32 row = config.swapped ? tile.column0 : tile.row0 + 64 * slab_number;
  return row < group.rows ? group.rows - row : 0;
}
template <class Config>
FP8TWIN_DEVICE bool is_staged(Config config, u32 rows) {
  return config.grouping == Grouping::none || rows >= (config.swapped ? config.tile_n : 64);
}

/// By one thread, for consumer warpgroup `number`: all slabs of all its tiles, in the order in which they are staged; without
/// those of which some rows do not count, which the consumers store (store_rows.hpp).
template <class Config>
FP8TWIN_DEVICE void store_staged(Config config, const TmaGemmArguments& arguments, const SharedLayout& shared,
                                 u32 number) {
  const u32 staged = staged_slabs(config), none = 2;
  u32 phases = 0;     // a bit for each of this warpgroup's staging slots
  u32 before = none;  // the slot that was copied before this one, and not handed back
  for (TileWalk<Config> walk = first_tile(config, arguments.gemm); !walk.done();
       walk.advance(nctaid_x() / cluster_size(config))) {
    const Tile tile = cluster_tile(config, walk.place(), cluster_ctarank());
    const Group group = group_at(config, arguments.gemm, walk.group);
    FP8TWIN_UNROLL
    for (u32 slab = 0; slab < config.slabs; ++slab) {
      const u32 own = slab % staged, slot = staging_slot(config, number, slab);
      const u32 slab_number = number * config.slabs + slab;
      if (!is_staged(config, rows_that_count(config, group, tile, slab_number))) {
        if (before != none) {
          cp_async_bulk_wait_group_read<0>();
          mbarrier_arrive_b64(shared.staged_empty(staging_slot(config, number, before)));
          before = none;
        }
        continue;
      }
      const u32 staging = shared.staging() + slot * slab_bytes(config);
      const u32 row0 = tile.row0 + 64 * slab_number;
      wait_parity(shared.staged_full(slot), phases >> own & 1);
      phases ^= 1u << own;
      fence_proxy_async_shared_cta();
      if (config.swapped) {
        copy_swapped_slab(config, arguments, staging, group.d_row + tile.column0, row0);
      } else {
        copy_slab(config, arguments, staging, group.d_row + row0, tile.column0);
      }
      if (staged == 1) {
        cp_async_bulk_wait_group_read<0>();
        mbarrier_arrive_b64(shared.staged_empty(slot));
      } else {
        cp_async_bulk_wait_group_read<1>();
        if (before != none) mbarrier_arrive_b64(shared.staged_empty(staging_slot(config, number, before)));
        before = own;
      }
    }
  }
  cp_async_bulk_wait_group_read<0>();  // D itself is complete when the grid is
}

}  // namespace fp8twin
