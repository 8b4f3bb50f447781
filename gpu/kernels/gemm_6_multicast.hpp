// Step 6: clusters of two blocks share a tile of A or of B by multicast (multicast.hpp).
//
//   traffic from L2 for a K block, 128 x 128 tiles:    alone 2 x 32 KiB       in a cluster 32 + 16 KiB for two
//
// New against step 5: the list is of clusters' tiles; consumers release a stage in both blocks; a cluster barrier at the
// start, since no block may copy into or arrive at another that has not initialised its barriers; and at the end the
// producer waits for the last releases, since no block may leave while the other may still arrive at its barriers.
//
// Config: cluster_m and cluster_n, one of them 2 (both 1: no cluster, as step 5). tile_n a multiple of 16 where B is
// shared: halves of whole eights. The grid is a multiple of the cluster.
#pragma once

#include "gpu/kernels/epilogue.hpp"
#include "gpu/kernels/multicast.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/promotion.hpp"
#include "gpu/kernels/roles.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void produce_6(Config config, const TmaGemmArguments& arguments, const SharedLayout& shared) {
  const Raster raster = cluster_raster(config, arguments.gemm);
  const u32 size = cluster_size(config), rank = cluster_ctarank();
  PipelineState state;
  for (u32 index = ctaid_x() / size; index < raster.tiles(); index += nctaid_x() / size) {
    const Tile tile = cluster_tile(config, raster.place(index), rank);
    for (u32 block = 0; block < k_blocks_of(arguments.gemm); ++block, state.advance(config.stages)) {
      wait_parity(shared.empty(state.stage), state.phase ^ 1);
      mbarrier_arrive_expect_tx_b64(shared.full(state.stage), shared.a_bytes + shared.b_bytes);
      load_k_block_of_cluster(config, arguments, shared, state.stage, shared.full(state.stage), tile, block,
                              rank);
    }
  }
  wait_for_last_releases(shared, state);
}

template <class Config>
FP8TWIN_DEVICE void consume_6(Config config, const GemmArguments& g, const SharedLayout& shared, u32 thread) {
  const Raster raster = cluster_raster(config, g);
  const u32 size = cluster_size(config), rank = cluster_ctarank();
  Accumulator<Config::width> p(config.tile_n);
  Registers<Config::width> total(config.tile_n);

  PipelineState state;
  for (u32 index = ctaid_x() / size; index < raster.tiles(); index += nctaid_x() / size) {
    const Tile tile = cluster_tile(config, raster.place(index), rank);
    const Probe<Config> probe = probe_of(config, g, tile, thread);
    clear(config, total);
    for (u32 block = 0; block < k_blocks_of(g); ++block, state.advance(config.stages)) {
      const BlockScales scales = load_scales(config, g, tile, thread, block);
      const u32 a_tile = shared.a_tile(state.stage), b_tile = shared.b_tile(state.stage);
      wait_parity(shared.full(state.stage), state.phase);

      probe.tiles(block, a_tile, b_tile);
      multiply_k_block(config, p, own_rows(a_tile, thread), b_tile, probe, block);
      release_in_cluster(config, shared.empty(state.stage));

      promote(config, tile.column0, scales, p, total);
      probe.promoted(block, total);
    }
    probe.output(g.m, g.n, tile, total);
    store_registers(config, g, tile, thread, total);
  }
}

template <class Config>
FP8TWIN_DEVICE void gemm_6_multicast(Config config, const TmaGemmArguments& arguments) {
  const SharedLayout shared = shared_layout(config, shared_base());

  if (tid_x() == 0) init_barriers(shared, cluster_size(config) * consumer_threads(config) / 32);
  meet_after_init();

  if (tid_x() < warpgroup) {
    give_registers(config);
    if (tid_x() < 32 && elect_sync(full_warp)) produce_6(config, arguments, shared);
    bar_warp_sync(full_warp);
  } else {
    take_registers(config);
    consume_6(config, arguments.gemm, shared, tid_x() - warpgroup);
  }
}

}  // namespace fp8twin
