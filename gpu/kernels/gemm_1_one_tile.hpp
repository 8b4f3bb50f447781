// Step 1 of the ladder: one warpgroup, one tile. Nothing overlaps; everything a later step makes fast is here
// in order.
//
//   for each K block of 128:
//     global -> shared        A [64 x 128], B [tile_n x 128], zero past the ends of the matrices
//     fence.proxy.async, bar  the tensor core may read what the threads wrote
//     4 x wgmma k32           P, the first with scale-d false: 13-bit sums inside the tensor core
//     promotion               total = fma(scale_a * scale_b, P, total) in FP32: one rounding each K block
//   convert and store         BF16 or FP32, rows and columns past the ends masked
//
// Config: tile_m 64, tile_n (8..192 in steps of 8: above that P and total outgrow the registers), stages 1.
// The grid is (ceil(m/64), ceil(n/tile_n)), 128 threads a block.
#pragma once

#include "gpu/kernels/epilogue.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/pipeline.hpp"
#include "gpu/kernels/promotion.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void gemm_1_one_tile(Config config, const GemmArguments& g) {
  const SharedLayout shared = shared_layout(config, shared_base());
  const Tile tile = tile_at(config, ctaid_x(), ctaid_y());
  const u32 thread = tid_x(), k_blocks = k_blocks_of(g);
  const Probe<Config> probe = probe_of(config, g, tile, thread);

  Accumulator<Config::width> p(config.tile_n);
  Registers<Config::width> total(config.tile_n);
  clear(config, total);

  for (u32 block = 0; block < k_blocks; ++block) {
    load_swizzled_tile(shared.a_tile(0), config.tile_m, g.a, tile.row0, g.m, block * k_block, g.k);
    load_swizzled_tile(shared.b_tile(0), config.tile_n, g.b, tile.column0, g.n, block * k_block, g.k);
    fence_proxy_async_shared_cta();
    bar_sync(0, warpgroup);

    probe.tiles(block, shared.a_tile(0), shared.b_tile(0));
    multiply_k_block(config, p, shared.a_tile(0), shared.b_tile(0), probe, block);
    bar_sync(0, warpgroup);  // every warp's wgmma has read the tiles: the next block may overwrite them

    promote(config, tile.column0, load_scales(config, g, tile, thread, block), p, total);
    probe.promoted(block, total);
  }
  probe.output(g.m, g.n, tile, total);
  store_registers(config, g, tile, thread, total);
}

}  // namespace fp8twin
