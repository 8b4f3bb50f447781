// Step 2: TMA brings the tiles, and one mbarrier tells when they are there.
//
//   thread 0:       expect_tx(bar, bytes of both tiles), copy A, copy B
//   all threads:    wait for the parity of this K block       the bytes have landed, already swizzled
//                   4 x wgmma, wait, bar.sync                 all have read: the next copy may overwrite
//
// What became of step 1's loop over chunks: 128 threads computed addresses, checked ends and swizzled; now one
// instruction does, and the fence is gone, since TMA writes through the proxy that wgmma reads through. Still one tile
// a block and one K block at a time: copying and multiplying take turns.
//
// Config, grid and threads as in step 1.
#pragma once

#include "gpu/kernels/epilogue.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/pipeline.hpp"
#include "gpu/kernels/promotion.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void gemm_2_tma(Config config, const TmaGemmArguments& arguments) {
  const GemmArguments& g = arguments.gemm;
  const SharedLayout shared = shared_layout(config, shared_base());
  const Tile tile = tile_at(config, ctaid_x(), ctaid_y());
  const u32 thread = tid_x(), k_blocks = k_blocks_of(g);
  const Probe<Config> probe = probe_of(config, g, tile, thread);

  if (thread == 0) init_barriers(shared, 1);
  bar_sync(0, warpgroup);

  Accumulator<Config::width> p(config.tile_n);
  Registers<Config::width> total(config.tile_n);
  clear(config, total);

  PipelineState state;
  for (u32 block = 0; block < k_blocks; ++block, state.advance(1)) {
    if (thread == 0) load_k_block(arguments, shared, 0, tile, block);
    bar_warp_sync(full_warp);  // wgmma wants whole warps
    wait_parity(shared.full(0), state.phase);

    probe.tiles(block, shared.a_tile(0), shared.b_tile(0));
    multiply_k_block(config, p, shared.a_tile(0), shared.b_tile(0), probe, block);
    bar_sync(0, warpgroup);

    promote(config, tile.column0, load_scales(config, g, tile, thread, block), p, total);
    probe.promoted(block, total);
  }
  probe.output(g.m, g.n, tile, total);
  store_registers(config, g, tile, thread, total);
}

}  // namespace fp8twin
