// Fences: which writes another observer may count on. PTX ISA, "membar/fence".
//
//   fence_proxy_async_shared_cta            generic stores to shared memory, before the async proxy (wgmma, TMA)
//                                           reads them: every thread that wrote, then the barrier
//   fence_mbarrier_init_release_cluster     an mbarrier's init, before another block of the cluster uses it
//   fence_acq_rel_cta / _cluster / _gpu     ordinary writes before, ordinary writes after, in that scope
//
//   st.shared ...  ->  fence.proxy.async  ->  bar.sync  ->  wgmma or a bulk copy reads the tile
#pragma once

#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE void fence_proxy_async_shared_cta() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

FP8TWIN_DEVICE void fence_mbarrier_init_release_cluster() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

FP8TWIN_DEVICE void fence_acq_rel_cta() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
FP8TWIN_DEVICE void fence_acq_rel_cluster() { asm volatile("fence.acq_rel.cluster;" ::: "memory"); }
FP8TWIN_DEVICE void fence_acq_rel_gpu() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

}  // namespace fp8twin
