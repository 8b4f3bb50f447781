// Step 4: warps with roles. One warpgroup copies, the others multiply.
//
//   warpgroup 0       producer     one thread:  wait empty[s] -> expect_tx, copy A, copy B -> next stage
//   warpgroup 1, 2    consumers    64 rows each: wait full[s] -> 4 x wgmma -> arrive at empty[s] -> promote
//
// The producer runs as far ahead as the ring allows, whatever the consumers are at; while one consumer warpgroup
// promotes (FP32 cores), the other multiplies (tensor core). setmaxnreg moves registers from the producer, which needs
// few, to the consumers, which hold P and total: 40 and 232 of the 168 that 384 threads start with.
//
// Config: tile_m 64 or 128 for one or two consumer warpgroups; threads 128 + 2 tile_m.
#pragma once

#include "gpu/kernels/epilogue.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/pipeline.hpp"
#include "gpu/kernels/promotion.hpp"
#include "gpu/kernels/roles.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void produce_4(Config config, const TmaGemmArguments& arguments, const SharedLayout& shared,
                              const Tile& tile) {
  PipelineState state;
  for (u32 block = 0; block < k_blocks_of(arguments.gemm); ++block, state.advance(config.stages)) {
    wait_parity(shared.empty(state.stage), state.phase ^ 1);
    load_k_block(arguments, shared, state.stage, tile, block);
  }
}

template <class Config>
FP8TWIN_DEVICE void consume_4(Config config, const GemmArguments& g, const SharedLayout& shared,
                              const Tile& tile, u32 thread) {
  const Probe<Config> probe = probe_of(config, g, tile, thread);
  Accumulator<Config::width> p(config.tile_n);
  Registers<Config::width> total(config.tile_n);
  clear(config, total);

  PipelineState state;
  for (u32 block = 0; block < k_blocks_of(g); ++block, state.advance(config.stages)) {
    const BlockScales scales = load_scales(config, g, tile, thread, block);  // underway while the tiles land
    const u32 a_tile = shared.a_tile(state.stage), b_tile = shared.b_tile(state.stage);
    wait_parity(shared.full(state.stage), state.phase);

    probe.tiles(block, a_tile, b_tile);
    multiply_k_block(config, p, own_rows(a_tile, thread), b_tile, probe, block);
    release(shared.empty(state.stage));

    promote(config, tile.column0, scales, p, total);
    probe.promoted(block, total);
  }
  probe.output(g.m, g.n, tile, total);
  store_registers(config, g, tile, thread, total);
}

template <class Config>
FP8TWIN_DEVICE void gemm_4_specialised(Config config, const TmaGemmArguments& arguments) {
  const SharedLayout shared = shared_layout(config, shared_base());
  const Tile tile = tile_at(config, ctaid_x(), ctaid_y());

  if (tid_x() == 0) init_barriers(shared, consumer_threads(config) / 32);
  bar_sync(0, warpgroup + consumer_threads(config));

  if (tid_x() < warpgroup) {
    give_registers(config);
    if (tid_x() < 32 && elect_sync(full_warp)) produce_4(config, arguments, shared, tile);
  } else {
    take_registers(config);
    consume_4(config, arguments.gemm, shared, tile, tid_x() - warpgroup);
  }
}

}  // namespace fp8twin
