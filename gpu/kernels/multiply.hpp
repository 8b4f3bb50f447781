// One K block on the tensor core: P = A B^T over 128 columns, by one warpgroup.
//
//   fence | k32: P = A0 B0^T + 0 | k32: P += A1 B1^T | k32 | k32 | commit       issue_k_block: P is the tensor core's
//   ... | wait                                                                   multiply_k_block: and ours again
//
// scale-d is 0 for the first step, so P starts from nothing whatever its registers held. Step s reads 32 columns, 32 s
// bytes into each swizzled row: the descriptor's start address moves, the swizzle stays.
#pragma once

#include "gpu/kernels/probe.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// `a_tile`: the warpgroup's own 64 rows.
template <class Config>
FP8TWIN_DEVICE void issue_k_block(Config config, Accumulator<Config::width>& p, u32 a_tile, u32 b_tile,
                                  const Probe<Config>& probe, u32 block) {
  wgmma_fence(p);
  FP8TWIN_UNROLL
  for (u32 step = 0; step < 4; ++step) {
    wgmma_mma_async_m64k32_f32_e4m3_e4m3(p, swizzled_descriptor(a_tile, step),
                                         swizzled_descriptor(b_tile, step), step != 0);
    if (config.trace) {  // a probe between two steps: p is ours only after a wait
      wgmma_commit_group();
      wgmma_wait_group<0>(p);
      probe.accumulator(block, step, p);
      wgmma_fence(p);
    }
  }
  wgmma_commit_group();
}

/// The same, to its end.
template <class Config>
FP8TWIN_DEVICE void multiply_k_block(Config config, Accumulator<Config::width>& p, u32 a_tile, u32 b_tile,
                                     const Probe<Config>& probe, u32 block) {
  issue_k_block(config, p, a_tile, b_tile, probe, block);
  wgmma_wait_group<0>(p);
}

}  // namespace fp8twin
