// Step 3: several K blocks in shared memory, so that copies run ahead of the multiplications.
//
//   stage     0      1      2      3
//           being    landed  landed  on its way        one thread copies stages - 1 blocks ahead
//           read
//
//   full[s]   as before, one barrier for each stage
//   empty[s]  four arrivals, one a warp: the stage has been read and may be overwritten. It takes the place of the
//             bar.sync after the multiplication: now a warp waits for the others only through the copying thread, and
//             that one looks at a stage released one K block ago.
//
// Thread 0 does both: in front of multiplying block i it starts the copy of block i + stages - 1 (of all the first
// blocks, in front of block 0).
//
// Config: stages >= 2, the rest as before.
#pragma once

#include "gpu/kernels/epilogue.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/pipeline.hpp"
#include "gpu/kernels/promotion.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void gemm_3_stages(Config config, const TmaGemmArguments& arguments) {
  const GemmArguments& g = arguments.gemm;
  const SharedLayout shared = shared_layout(config, shared_base());
  const Tile tile = tile_at(config, ctaid_x(), ctaid_y());
  const u32 thread = tid_x(), k_blocks = k_blocks_of(g);
  const Probe<Config> probe = probe_of(config, g, tile, thread);

  if (thread == 0) init_barriers(shared, warpgroup / 32);
  bar_sync(0, warpgroup);

  Accumulator<Config::width> p(config.tile_n);
  Registers<Config::width> total(config.tile_n);
  clear(config, total);

  PipelineState load, use;
  u32 loaded = 0;  // K blocks whose copy was started
  for (u32 block = 0; block < k_blocks; ++block, use.advance(config.stages)) {
    for (; loaded < k_blocks && loaded < block + config.stages; ++loaded, load.advance(config.stages)) {
      if (thread == 0) {
        wait_parity(shared.empty(load.stage), load.phase ^ 1);
        load_k_block(arguments, shared, load.stage, tile, loaded);
      }
    }
    bar_warp_sync(full_warp);
    wait_parity(shared.full(use.stage), use.phase);

    probe.tiles(block, shared.a_tile(use.stage), shared.b_tile(use.stage));
    multiply_k_block(config, p, shared.a_tile(use.stage), shared.b_tile(use.stage), probe, block);
    release(shared.empty(use.stage));

    promote(config, tile.column0, load_scales(config, g, tile, thread, block), p, total);
    probe.promoted(block, total);
  }
  probe.output(g.m, g.n, tile, total);
  store_registers(config, g, tile, thread, total);
}

}  // namespace fp8twin
