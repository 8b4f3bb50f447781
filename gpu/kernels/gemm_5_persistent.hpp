// Step 5: a block for each multiprocessor, that computes tile after tile.
//
//   block b of G:   tiles b, b + G, b + 2 G, ...  in raster order (raster.hpp)
//
//   producer    tile 0: blocks 0 1 2 3 | tile 1: blocks 0 1 2 3 | ...       the ring runs on over the seam:
//   consumers       tile 0: blocks 0 1 2 3 | store | tile 1: ...            tile 1 is copied while tile 0 is stored
//
// Barriers are initialised once; both sides carry stage and phase from tile to tile. Producer and consumers walk the
// same list of tiles without a word to each other: each computes it.
//
// Config as in step 4; the grid is (min(tiles, multiprocessors), 1).
#pragma once

#include "gpu/kernels/epilogue.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/pipeline.hpp"
#include "gpu/kernels/promotion.hpp"
#include "gpu/kernels/raster.hpp"
#include "gpu/kernels/roles.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void produce_5(Config config, const TmaGemmArguments& arguments, const SharedLayout& shared,
                              const Raster& raster) {
  PipelineState state;
  for (u32 index = ctaid_x(); index < raster.tiles(); index += nctaid_x()) {
    const RasterPlace place = raster.place(index);
    const Tile tile = tile_at(config, place.m, place.n);
    for (u32 block = 0; block < k_blocks_of(arguments.gemm); ++block, state.advance(config.stages)) {
      wait_parity(shared.empty(state.stage), state.phase ^ 1);
      load_k_block(arguments, shared, state.stage, tile, block);
    }
  }
}

template <class Config>
FP8TWIN_DEVICE void consume_5(Config config, const GemmArguments& g, const SharedLayout& shared,
                              const Raster& raster, u32 thread) {
  Accumulator<Config::width> p(config.tile_n);
  Registers<Config::width> total(config.tile_n);

  PipelineState state;
  for (u32 index = ctaid_x(); index < raster.tiles(); index += nctaid_x()) {
    const RasterPlace place = raster.place(index);
    const Tile tile = tile_at(config, place.m, place.n);
    const Probe<Config> probe = probe_of(config, g, tile, thread);
    clear(config, total);
    for (u32 block = 0; block < k_blocks_of(g); ++block, state.advance(config.stages)) {
      const BlockScales scales = load_scales(config, g, tile, thread, block);
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
}

template <class Config>
FP8TWIN_DEVICE void gemm_5_persistent(Config config, const TmaGemmArguments& arguments) {
  const GemmArguments& g = arguments.gemm;
  const SharedLayout shared = shared_layout(config, shared_base());
  const Raster raster = raster_of(g.m, g.n, config.tile_m, config.tile_n);

  if (tid_x() == 0) init_barriers(shared, consumer_threads(config) / 32);
  bar_sync(0, warpgroup + consumer_threads(config));

  if (tid_x() < warpgroup) {
    give_registers(config);
    if (tid_x() < 32 && elect_sync(full_warp)) produce_5(config, arguments, shared, raster);
  } else {
    take_registers(config);
    consume_5(config, g, shared, raster, tid_x() - warpgroup);
  }
}

}  // namespace fp8twin
