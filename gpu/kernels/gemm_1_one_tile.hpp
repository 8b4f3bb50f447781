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
// The grid is (ceil(m/64), ceil(n/tile_n)); a block owns rows 64*x and columns tile_n*y. An 8-column group of
// the accumulator never straddles two scale blocks of B, since both begin on multiples of 8: one scale for
// each group.
//
// Config: tile_n (8..192 in steps of 8: above that P and total outgrow the registers), output_f32.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void gemm_1_one_tile(const GemmArguments& g) {
  constexpr u32 tile_n = Config::tile_n;
  const u32 row0 = ctaid_x() * 64, column0 = ctaid_y() * tile_n;
  const u32 k_blocks = (g.k + 127) / 128;
  const u32 a_tile = (dynamic_shared() + 1023) / 1024 * 1024, b_tile = a_tile + 64 * 128;
  const u32 thread = tid_x();

  Accumulator<tile_n> p;
  float total[tile_n / 2];
  FP8TWIN_UNROLL
  for (u32 i = 0; i < tile_n / 2; ++i) total[i] = 0;

  for (u32 block = 0; block < k_blocks; ++block) {
    load_swizzled_tile<64>(a_tile, g.a, row0, g.m, block * 128, g.k);
    load_swizzled_tile<tile_n>(b_tile, g.b, column0, g.n, block * 128, g.k);
    fence_proxy_async_shared_cta();
    bar_sync(0, warpgroup);

    wgmma_fence(p);
    FP8TWIN_UNROLL
    for (u32 step = 0; step < 4; ++step) {
      wgmma_mma_async_m64k32_f32_e4m3_e4m3(p, swizzled_descriptor(a_tile, step),
                                           swizzled_descriptor(b_tile, step), step != 0);
    }
    wgmma_commit_group();
    wgmma_wait_group<0>(p);
    bar_sync(0, warpgroup);  // every warp's wgmma has read the tiles: the next block may overwrite them

    float scale_a[2];  // registers r of this thread lie in two rows, 8 apart: (r / 2) % 2 says which
    FP8TWIN_UNROLL
    for (u32 half = 0; half < 2; ++half) {
      const u32 row = row0 + accumulator_coordinate(thread, 2 * half).row;
      scale_a[half] = row < g.m ? ld_global_nc_f32(g.a_scale + static_cast<u64>(row) * k_blocks + block) : 0;
    }
    FP8TWIN_UNROLL
    for (u32 group = 0; group < tile_n / 8; ++group) {
      const u32 column = column0 + 8 * group;
      const float scale_b =
          column < g.n ? ld_global_nc_f32(g.b_scale + static_cast<u64>(column / 128) * k_blocks + block) : 0;
      FP8TWIN_UNROLL
      for (u32 i = 4 * group; i < 4 * group + 4; ++i) {
        total[i] = fma_rn(mul_rn(scale_a[(i / 2) % 2], scale_b), p[i], total[i]);
      }
    }
  }

  FP8TWIN_UNROLL
  for (u32 i = 0; i < tile_n / 2; ++i) {
    const Coordinate at = accumulator_coordinate(thread, i);
    const u32 row = row0 + at.row, column = column0 + at.column;
    if (row >= g.m || column >= g.n) continue;
    const u64 index = static_cast<u64>(row) * g.n + column;
    if constexpr (Config::output_f32) {
      st_global_f32(static_cast<float*>(g.d) + index, total[i]);
    } else {
      st_global_u16(static_cast<u16*>(g.d) + index, cvt_rn_bf16_f32(total[i]));
    }
  }
}

}  // namespace fp8twin
