// One correct little pipeline, and the mistakes that people lose days to: each `bug` changes one line of it.
//
//   producer (thread 0)                      consumer (warpgroup 1)
//     wait empty[stage]                        wait full[stage]
//     arrive.expect_tx full[stage]             4 x wgmma k32 on the stage
//     TMA A, TMA B -> stage                    commit, wait
//                                              arrive empty[stage]
//   at the end: accumulators -> BF16 -> stmatrix -> fence -> barrier -> TMA store
//
// D [64 x 64] = A [64 x 128 k_blocks] B [64 x 128 k_blocks]^T, one chain, no scales. What the machine says of each bug, and what a card
// makes of it: tests/machine/broken_pipeline_test.cpp, tests/golden/broken.json.
//
// Config: bug.
#pragma once

#include "emulator/layout/descriptor.hpp"
#include "emulator/layout/fragment.hpp"
#include "emulator/layout/tensor_map.hpp"
#include "gpu/kernels/machine.hpp"

namespace fp8twin {

enum class Bug : u32 {
  none,
  late_wait,             // wgmma on a stage whose copies nobody has waited for
  wrong_parity,          // the wait for the other phase, which is always over
  small_expect_tx,       // the bytes of A alone: the phase ends with B on its way
  large_expect_tx,       // sixteen bytes too many: the phase never ends
  early_release,         // the stage is given back before its wgmma have read it
  forgotten_release,     // the stage is never given back
  early_read,            // the accumulator, before the wait
  missing_wgmma_fence,   // registers written by ordinary instructions, then wgmma
  missing_proxy_fence,   // stmatrix, barrier, TMA store: and no fence.proxy.async
  missing_init_fence,    // mbarriers that the async proxy may not see yet
  wrong_base_offset,     // a base offset in the descriptor of a tile that needs none
  wrong_stride,          // 512 bytes from 8 rows to the next, where they lie 1024 apart
  neighbours_rows,       // warp 0 stores 16 rows too far down, where warp 1 stores
  bank_conflicts,        // right, but slow: rows of 128 bytes without a swizzle
  forgotten_store_wait,  // the block ends while TMA still reads its shared memory
};

struct BrokenPipelineArguments {
  TensorMap a, b;  // boxes of 128 x 64 bytes, 128B swizzle
  TensorMap d;     // BF16, box 64 x 64, 128B swizzle (none for bank_conflicts)
  u32 k_blocks;
};

inline constexpr u32 broken_stages = 2, broken_tile_bytes = 64 * 128;
inline constexpr u32 broken_pipeline_threads = 256;
/// Stages of A and B, the tile of D, the barriers; and room to begin on a multiple of 1024.
inline constexpr u32 broken_pipeline_shared_bytes =
    1024 + (2 * broken_stages + 1) * broken_tile_bytes + 16 * broken_stages;

template <class Config>
FP8TWIN_DEVICE void broken_pipeline(Config config, const BrokenPipelineArguments& g) {
  const Bug bug = config.bug;
  const u32 tiles = (dynamic_shared() + 1023) & ~1023u;
  const u32 d_tile = tiles + 2 * broken_stages * broken_tile_bytes;
  const u32 full = d_tile + broken_tile_bytes, empty = full + 8 * broken_stages;
  const u32 thread = tid_x();

  if (thread == 0) {
    for (u32 stage = 0; stage < broken_stages; ++stage) {
      mbarrier_init_b64(full + 8 * stage, 1);
      mbarrier_init_b64(empty + 8 * stage, 128);
    }
    if (bug != Bug::missing_init_fence) fence_mbarrier_init_release_cluster();
  }
  bar_sync(0, broken_pipeline_threads);

  if (thread < 128) {
    if (thread != 0) return;
    for (u32 block = 0; block < g.k_blocks; ++block) {
      const u32 stage = block % broken_stages, round = block / broken_stages;
      const u32 a_tile = tiles + 2 * stage * broken_tile_bytes, b_tile = a_tile + broken_tile_bytes;
      while (!mbarrier_try_wait_parity_b64(empty + 8 * stage, (round & 1) ^ 1)) {
      }
      const u32 bytes = bug == Bug::small_expect_tx   ? broken_tile_bytes
                        : bug == Bug::large_expect_tx ? 2 * broken_tile_bytes + 16
                                                      : 2 * broken_tile_bytes;
      mbarrier_arrive_expect_tx_b64(full + 8 * stage, bytes);
      cp_async_bulk_tensor_2d_shared_global(a_tile, g.a, static_cast<i32>(128 * block), 0, full + 8 * stage);
      cp_async_bulk_tensor_2d_shared_global(b_tile, g.b, static_cast<i32>(128 * block), 0, full + 8 * stage);
    }
    return;
  }

  Accumulator<64> p;
  float early = 0;
  for (u32 block = 0; block < g.k_blocks; ++block) {
    const u32 stage = block % broken_stages, round = block / broken_stages;
    const u32 a_tile = tiles + 2 * stage * broken_tile_bytes, b_tile = a_tile + broken_tile_bytes;
    const u32 parity = bug == Bug::wrong_parity ? (round & 1) ^ 1 : round & 1;
    if (bug != Bug::late_wait) {
      while (!mbarrier_try_wait_parity_b64(full + 8 * stage, parity)) {
      }
    }
    if (bug != Bug::missing_wgmma_fence) wgmma_fence(p);
    FP8TWIN_UNROLL
    for (u32 step = 0; step < 4; ++step) {
      const u32 stride = bug == Bug::wrong_stride ? 512 : 1024, base = bug == Bug::wrong_base_offset ? 1 : 0;
      const MatrixDescriptor a{a_tile + 32 * step, 0, stride, base, SwizzleMode::b128};
      const MatrixDescriptor b{b_tile + 32 * step, 0, 1024, 0, SwizzleMode::b128};
      wgmma_mma_async_m64k32_f32_e4m3_e4m3(p, encode(a), encode(b), (block | step) != 0);
    }
    wgmma_commit_group();
    if (bug == Bug::late_wait) {
      while (!mbarrier_try_wait_parity_b64(full + 8 * stage, parity)) {
      }
    }
    if (bug == Bug::early_release) mbarrier_arrive_b64(empty + 8 * stage);
    if (bug == Bug::early_read) early = p[0];
    wgmma_wait_group<0>(p);
    if (bug != Bug::early_release && bug != Bug::forgotten_release) mbarrier_arrive_b64(empty + 8 * stage);
  }
  if (bug == Bug::early_read) p[0] = early;

  // Each warp stores its 16 rows: two 8x8 matrices of rows, two of columns, at a time.
  const u32 lane = thread % 32, warp = thread / 32 % 4;
  const u32 row = 16 * warp + lane % 16 + (bug == Bug::neighbours_rows && warp == 0 ? 16 : 0);
  const SwizzleMode mode = bug == Bug::bank_conflicts ? SwizzleMode::none : SwizzleMode::b128;
  FP8TWIN_UNROLL
  for (u32 pair = 0; pair < 4; ++pair) {
    const u32 i = 8 * pair, column = 16 * pair + 8 * (lane / 16);
    const U32x4 codes{cvt_rn_bf16x2_f32(p[i + 1], p[i]), cvt_rn_bf16x2_f32(p[i + 3], p[i + 2]),
                      cvt_rn_bf16x2_f32(p[i + 5], p[i + 4]), cvt_rn_bf16x2_f32(p[i + 7], p[i + 6])};
    stmatrix_m8n8_x4_b16(swizzle(mode, d_tile + 128 * row + 2 * column), codes);
  }
  if (bug != Bug::missing_proxy_fence) fence_proxy_async_shared_cta();
  bar_sync(1, 128);
  if (thread == 128) {
    cp_async_bulk_tensor_2d_global_shared(g.d, 0, 0, d_tile);
    cp_async_bulk_commit_group();
    if (bug != Bug::forgotten_store_wait) cp_async_bulk_wait_group<0>();
  }
}

}  // namespace fp8twin
