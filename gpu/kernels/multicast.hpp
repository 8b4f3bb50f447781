// The blocks of a cluster, one copy of what they share: two blocks at first, from step 8 on up to four, in rows and
// columns.
//
//   cluster_m = 2                      cluster_n = 2
//     block 0:  A0 . B                   block 0   block 1        tiles of D that share columns share B,
//     block 1:  A1 . B                    A . B0    A . B1        those that share rows share A
//
//   Each block copies one half of the shared tile, and TMA writes it to both:
//
//     block 0 | upper half of B | ----> both blocks, same address, both full[s] count its bytes
//     block 1 | lower half of B | ----> both blocks
//
// So full[s] expects the whole of both tiles in each block, and a stage is free only when the consumers of *both* have
// read it, since either's copies write into it: they arrive at empty[s] of both, which counts twice as many.
//
// A half may land before its block has said expect_tx. That is in order: the phase cannot end without that arrival, and
// the tx-count may pass below zero meanwhile.
#pragma once

#include "gpu/kernels/pipeline.hpp"
#include "gpu/kernels/raster.hpp"

namespace fp8twin {

template <class Config>
constexpr u32 cluster_size(Config config) {
  return config.cluster_m * config.cluster_n;
}

/// Clusters take the place of tiles: the raster is of cluster_m x cluster_n tiles. One that hangs over D's end has a
/// block whose tile lies outside; it copies zeros, takes part in everything, and stores nothing.
template <class Config>
FP8TWIN_DEVICE Raster cluster_raster(Config config, const GemmArguments& g) {
  return raster_of(config.swapped ? g.n : g.m, config.swapped ? g.m : g.n, config.cluster_m * config.tile_m,
                   config.cluster_n * config.tile_n);
}

/// This block's tile of the cluster at `place`.
template <class Config>
FP8TWIN_DEVICE Tile cluster_tile(Config config, RasterPlace place, u32 rank) {
  return tile_at(config, config.cluster_m * place.m + rank % config.cluster_m,
                 config.cluster_n * place.n + rank / config.cluster_m);
}

/// One tile of a stage: `rows` from row0 of the matrix. Shared by `parts` blocks, those of `cta_mask`, this one copies
/// part number `part` for all of them. `once`: its lines are not read again, and may leave L2 first.
FP8TWIN_DEVICE void load_tile(u32 dst, const TensorMap& map, i32 column, u32 row0, u32 rows, u32 full,
                              u32 parts, u32 part, u32 cta_mask, bool once) {
  const u32 first = parts > 1 ? rows / parts * part : 0, to = dst + first * k_block;
  const i32 row = static_cast<i32>(row0 + first);
  const u16 mask = static_cast<u16>(cta_mask);
  if (parts > 1 && once) {
    cp_async_bulk_tensor_2d_shared_global_multicast(to, map, column, row, full, mask, l2_evict_first);
  } else if (parts > 1) {
    cp_async_bulk_tensor_2d_shared_global_multicast(to, map, column, row, full, mask);
  } else if (once) {
    cp_async_bulk_tensor_2d_shared_global(to, map, column, row, full, l2_evict_first);
  } else {
    cp_async_bulk_tensor_2d_shared_global(to, map, column, row, full);
  }
}

/// load_k_block of a cluster, without the arrival. Rank r is block (r % cluster_m, r / cluster_m) of the cluster. Blocks
/// with equal r % cluster_m share A's rows, and copy part r / cluster_m of them each; blocks with equal r / cluster_m
/// share B's rows, and copy part r % cluster_m.
template <class Config>
FP8TWIN_DEVICE void load_k_block_of_cluster(Config config, const TmaGemmArguments& arguments,
                                            const SharedLayout& shared, u32 slot, u32 full, const Tile& tile,
                                            u32 block, u32 rank, bool weights_once = false) {
  const i32 column = static_cast<i32>(block * k_block);
  const u32 place_m = rank % config.cluster_m, place_n = rank / config.cluster_m;
  const u32 below = (1u << config.cluster_m) - 1;  // a column of blocks
  u32 beside = 0;                                  // a row of blocks
  FP8TWIN_UNROLL
  for (u32 n = 0; n < config.cluster_n; ++n) beside |= 1u << (config.cluster_m * n);
  load_tile(shared.a_tile(slot), arguments.a, column, tile.row0, config.tile_m, full, config.cluster_n,
            place_n, beside << place_m, weights_once && config.swapped);
  load_tile(shared.b_tile(slot), arguments.b, column, tile.column0, config.tile_n, full, config.cluster_m,
            place_m, below << (config.cluster_m * place_n), weights_once && !config.swapped);
}

/// release() in every block of the cluster: lane r arrives at block r.
template <class Config>
FP8TWIN_DEVICE void release_in_cluster(Config config, u32 empty) {
  if (cluster_size(config) == 1) return release(empty);
  bar_warp_sync(full_warp);
  if (laneid() < cluster_size(config)) {
    mbarrier_arrive_shared_cluster_b64(mapa_shared_cluster_u32(empty, laneid()));
  }
}

/// All threads of the cluster meet, past fence.mbarrier_init: they see each other's barriers, and nothing else.
FP8TWIN_DEVICE void meet_after_init() {
  barrier_cluster_arrive_relaxed();
  barrier_cluster_wait();
}

/// By the producer, at its end: until every stage has been released for the last time. Nobody arrives at this block's
/// barriers after that, so it may leave.
FP8TWIN_DEVICE void wait_for_last_releases(const SharedLayout& shared, PipelineState state) {
  for (u32 i = 0; i < shared.stages; ++i, state.advance(shared.stages)) {
    wait_parity(shared.empty(state.stage), state.phase ^ 1);
  }
}

}  // namespace fp8twin
