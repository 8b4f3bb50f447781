// The producer of steps 8 and 9: as in step 7, with A's scales, and stages of in_flight K blocks (overlap.hpp).
//
//   a stage     | A, K block 0 | ... | A, K block f-1 | B ... | scales of A ... |     one full barrier, one expect_tx
//
//   Past K's end TMA brings zeros, and they count; the consumer multiplies them and promotes nothing.
#pragma once

#include "gpu/kernels/multicast.hpp"

namespace fp8twin {

/// A walk over this block's tiles.
template <class Config>
FP8TWIN_DEVICE RasterWalk first_tile(Config config, const GemmArguments& g) {
  const Raster raster = cluster_raster(config, g);
  RasterWalk walk = {raster.tiles_m, raster.tiles_n, g.raster_shift};
  walk.advance(ctaid_x() / cluster_size(config));
  return walk;
}

/// By one thread.
template <class Config>
FP8TWIN_DEVICE void produce_with_scales(Config config, const TmaGemmArguments& arguments,
                                        const SharedLayout& shared) {
  const u32 size = cluster_size(config), rank = cluster_ctarank();
  const u32 scale_bytes = 4 * (config.swapped ? config.tile_n : config.tile_m);
  PipelineState state;
  for (RasterWalk walk = first_tile(config, arguments.gemm); !walk.done(); walk.advance(nctaid_x() / size)) {
    const Tile tile = cluster_tile(config, walk.place(), rank);
    for (u32 block = 0; block < k_blocks_of(arguments.gemm);
         block += config.in_flight, state.advance(config.stages)) {
      const u32 full = shared.full(state.stage);
      wait_parity(shared.empty(state.stage), state.phase ^ 1);
      mbarrier_arrive_expect_tx_b64(full, config.in_flight * (shared.a_bytes + shared.b_bytes + scale_bytes));
      FP8TWIN_UNROLL
      for (u32 i = 0; i < config.in_flight; ++i) {  // past K's end zeros arrive, and count
        const u32 slot = state.stage * config.in_flight + i;
        load_k_block_of_cluster(config, arguments, shared, slot, full, tile, block + i, rank,
                                arguments.gemm.b_once);
        cp_async_bulk_tensor_2d_shared_global(shared.scale_tile(slot), arguments.a_scale,
                                              static_cast<i32>(config.swapped ? tile.column0 : tile.row0),
                                              static_cast<i32>(block + i), full);
      }
    }
  }
  if (size > 1) wait_for_last_releases(shared, state);
}

}  // namespace fp8twin
