// The ring of stages between the thread that copies and the threads that multiply.
//
//   stage       0    1    2    3    0    1 ...
//   phase       0    0    0    0    1    1 ...     the parity of the round
//
//   full[s]     ends its phase when the bytes have landed:      consumers wait for parity `phase`
//   empty[s]    ends its phase when all consumers have read:    the producer waits for parity `phase ^ 1`
//
// A fresh mbarrier counts as having ended a phase of parity 1: so the producer's first round does not wait. Producer
// and consumers each carry a PipelineState of their own, and it runs on from tile to tile: barriers are never reset.
#pragma once

#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/shared_layout.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// Every lane of a warp.
inline constexpr u32 full_warp = 0xffffffff;

struct PipelineState {
  u32 stage = 0, phase = 0;

  FP8TWIN_DEVICE void advance(u32 stages) {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

/// Where the shared tiles begin.
FP8TWIN_DEVICE u32 shared_base() { return (dynamic_shared() + 1023) / 1024 * 1024; }

FP8TWIN_DEVICE void wait_parity(u32 bar, u32 parity) {
  while (!mbarrier_try_wait_parity_b64(bar, parity)) {
  }
}

/// By one thread, before any other touches a barrier: full[s] for one producer, empty[s] for `consumers` arrivals.
FP8TWIN_DEVICE void init_barriers(const SharedLayout& shared, u32 consumers) {
  for (u32 stage = 0; stage < shared.stages; ++stage) {
    mbarrier_init_b64(shared.full(stage), 1);
    mbarrier_init_b64(shared.empty(stage), consumers);
  }
  fence_mbarrier_init_release_cluster();
}

/// By one thread: the tiles of K block `block` are on their way to `stage`. full[stage] ends when both have landed;
/// bytes past the ends of A and B arrive as zeros, and count.
FP8TWIN_DEVICE void load_k_block(const TmaGemmArguments& arguments, const SharedLayout& shared, u32 stage,
                                 const Tile& tile, u32 block) {
  const u32 full = shared.full(stage);
  const i32 column = static_cast<i32>(block * k_block);
  mbarrier_arrive_expect_tx_b64(full, shared.a_bytes + shared.b_bytes);
  cp_async_bulk_tensor_2d_shared_global(shared.a_tile(stage), arguments.a, column,
                                        static_cast<i32>(tile.row0), full);
  cp_async_bulk_tensor_2d_shared_global(shared.b_tile(stage), arguments.b, column,
                                        static_cast<i32>(tile.column0), full);
}

/// By every thread of a warp that has read a stage: one arrival a warp, after all its lanes are done.
FP8TWIN_DEVICE void release(u32 empty) {
  bar_warp_sync(full_warp);
  if (laneid() == 0) mbarrier_arrive_b64(empty);
}

}  // namespace fp8twin
