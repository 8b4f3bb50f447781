// TMA, one copy: into shared memory full of poison, or out of shared memory whose every 16-bit word says
// where it lies.
//
//   load    region = 0xff everywhere; copy; the whole region goes to the host
//           completed 1: the barrier's phase ended; 3: and so did the next one, with nothing but an arrival: the copy
//           had reported exactly the bytes that were expected, no more (a surplus would be a debt of the next phase)
//   store   16-bit word i of the region = i + 1; copy; the host reads the tensor
#pragma once

#include "gpu/capture/device/layout_records.hpp"
#include "gpu/ptx/bar.hpp"
#include "gpu/ptx/cp_async_bulk_tensor.hpp"
#include "gpu/ptx/fence.hpp"
#include "gpu/ptx/ld_st.hpp"
#include "gpu/ptx/mbarrier.hpp"
#include "gpu/ptx/shared_memory.hpp"
#include "gpu/ptx/special_registers.hpp"

namespace fp8twin::capture {

inline constexpr u32 tma_threads = 128;

/// Words of the region, four at a time: word(i) is what 32-bit word i shall hold.
template <class Word>
FP8TWIN_DEVICE void fill_tma_region(const Word& word) {
  for (u32 i = tid_x() * 4; i < tma_region_bytes / 4; i += tma_threads * 4)
    st_shared_v4_u32(region_begin + 4 * i, {word(i), word(i + 1), word(i + 2), word(i + 3)});
  fence_proxy_async_shared_cta();
  bar_sync(0, tma_threads);
}

/// A copy may complete another number of bytes than expected; then waiting without an end would be for ever.
FP8TWIN_DEVICE bool phase_ends(u32 bar, u32 parity) {
  const i64 began = clock64();
  bool ended = false;
  while (!ended && clock64() - began < 4'000'000) ended = mbarrier_try_wait_parity_b64(bar, parity);
  return ended;
}

FP8TWIN_DEVICE void tma_load(const TmaArguments& g) {
  const u32 bar = dynamic_shared();
  if (tid_x() == 0) {
    mbarrier_init_b64(bar, 1);
    fence_mbarrier_init_release_cluster();
  }
  fill_tma_region([](u32) { return 0xffffffffu; });
  if (tid_x() == 0) {
    mbarrier_arrive_expect_tx_b64(bar, g.bytes);
    if (g.rank == 2) {
      cp_async_bulk_tensor_2d_shared_global(g.address, g.map, g.x, g.y, bar);
    } else {
      cp_async_bulk_tensor_3d_shared_global(g.address, g.map, g.x, g.y, g.z, bar);
    }
  }
  const bool first = phase_ends(bar, 0);
  bar_sync(0, tma_threads);
  const i64 landed = clock64();
  while (clock64() - landed < 20'000) {
  }
  if (tid_x() == 0) mbarrier_arrive_b64(bar);
  const bool second = first && phase_ends(bar, 1);
  bar_sync(0, tma_threads);
  if (tid_x() == 0) *g.completed = first + 2 * second;
  for (u32 i = tid_x(); i < tma_region_bytes / 4; i += tma_threads)
    g.region[i] = ld_shared_u32(region_begin + 4 * i);
}

FP8TWIN_DEVICE void tma_store(const TmaArguments& g) {
  fill_tma_region([](u32 i) { return (2 * i + 1) | (2 * i + 2) << 16; });
  if (tid_x() != 0) return;
  if (g.rank == 2) {
    cp_async_bulk_tensor_2d_global_shared(g.map, g.x, g.y, g.address);
  } else {
    cp_async_bulk_tensor_3d_global_shared(g.map, g.x, g.y, g.z, g.address);
  }
  cp_async_bulk_commit_group();
  cp_async_bulk_wait_group<0>();
  *g.completed = 3;
}

}  // namespace fp8twin::capture
