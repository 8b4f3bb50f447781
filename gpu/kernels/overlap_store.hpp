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

#include "gpu/kernels/multicast.hpp"
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

/// By one thread, for consumer warpgroup `number`: all slabs of all its tiles, in the order in which they are staged.
template <class Config>
FP8TWIN_DEVICE void store_staged(Config config, const TmaGemmArguments& arguments, const SharedLayout& shared,
                                 u32 number) {
  const u32 staged = staged_slabs(config);
  u32 phase = 0;
  bool first = true;
  for (RasterWalk walk = first_tile(config, arguments.gemm); !walk.done();
       walk.advance(nctaid_x() / cluster_size(config))) {
    const Tile tile = cluster_tile(config, walk.place(), cluster_ctarank());
    FP8TWIN_UNROLL
    for (u32 slab = 0; slab < config.slabs; ++slab) {
      const u32 slot = staging_slot(config, number, slab);
      const u32 staging = shared.staging() + slot * slab_bytes(config);
      const u32 row0 = tile.row0 + 64 * (number * config.slabs + slab);
      wait_parity(shared.staged_full(slot), phase);
      fence_proxy_async_shared_cta();
      if (config.swapped) {
        copy_swapped_slab(config, arguments, staging, tile.column0, row0);
      } else {
        copy_slab(config, arguments, staging, row0, tile.column0);
      }
      if (staged == 1) {
        cp_async_bulk_wait_group_read<0>();
        mbarrier_arrive_b64(shared.staged_empty(slot));
      } else {  // the slab before this one
        cp_async_bulk_wait_group_read<1>();
        if (!first) mbarrier_arrive_b64(shared.staged_empty(staging_slot(config, number, slab + 1)));
        first = false;
      }
      if ((slab + 1) % staged == 0) phase ^= 1;
    }
  }
  cp_async_bulk_wait_group_read<0>();  // D itself is complete when the grid is
}

}  // namespace fp8twin
