// Step 7, the full kernel: the tile leaves through shared memory and TMA.
//
//   consumers    stmatrix, swizzled -> fence.proxy.async -> bar.sync (their warpgroup) -> one thread: TMA store
//                next tile ...                                            the store drains meanwhile (staging.hpp)
//
// Whole 16-byte rows leave the block instead of 2 bytes a thread, TMA clips what hangs over D's ends, and nobody waits
// for global memory. Before staging the next tile the storing thread waits until the last one has been read, and before
// leaving until it has been written.
//
// The producer, now with all it has to do: prefetch of the tensor maps, halves of shared tiles by multicast, the ring
// over all tiles.
//
// Config as in step 6; D's rows must begin on multiples of 16 bytes (the plan pads d_stride).
#pragma once

#include "gpu/kernels/multicast.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/promotion.hpp"
#include "gpu/kernels/roles.hpp"
#include "gpu/kernels/staging.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void produce_7(Config config, const TmaGemmArguments& arguments, const SharedLayout& shared) {
  const Raster raster = cluster_raster(config, arguments.gemm);
  const u32 size = cluster_size(config), rank = cluster_ctarank();
  prefetch_tensormap(arguments.a);
  prefetch_tensormap(arguments.b);
  prefetch_tensormap(arguments.d);
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
FP8TWIN_DEVICE void consume_7(Config config, const TmaGemmArguments& arguments, const SharedLayout& shared,
                              u32 thread) {
  const GemmArguments& g = arguments.gemm;
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
    const u32 number = thread / warpgroup;
    const u32 staging = shared.staging() + number * slab_bytes(config);
    if (thread % warpgroup == 0) cp_async_bulk_wait_group_read<0>();
    bar_sync(1 + number, warpgroup);
    stage_slab(config, staging, thread % warpgroup, total);
    fence_proxy_async_shared_cta();   // each thread, for what it wrote
    bar_sync(1 + number, warpgroup);  // all have written
    if (thread % warpgroup == 0) {
      copy_slab(config, arguments, staging, tile.row0 + 64 * number, tile.column0);
    }
  }
  if (thread % warpgroup == 0) cp_async_bulk_wait_group<0>();
  bar_warp_sync(full_warp);
}

template <class Config>
FP8TWIN_DEVICE void gemm_7_full(Config config, const TmaGemmArguments& arguments) {
  const SharedLayout shared = shared_layout(config, shared_base(), Beside::whole_tile);

  if (tid_x() == 0) init_barriers(shared, cluster_size(config) * consumer_threads(config) / 32);
  meet_after_init();

  if (tid_x() < warpgroup) {
    give_registers(config);
    if (tid_x() < 32 && elect_sync(full_warp)) produce_7(config, arguments, shared);
    bar_warp_sync(full_warp);
  } else {
    take_registers(config);
    consume_7(config, arguments, shared, tid_x() - warpgroup);
  }
}

}  // namespace fp8twin
