// Fences. PTX ISA, "membar/fence".
//
//   fence.proxy.async      what was stored (and is known to be stored) becomes visible to TMA and wgmma
//   fence.mbarrier_init    initialised mbarriers become visible to the cluster and to the async proxy
//   fence.acq_rel          orders a thread's own accesses; without a barrier nobody learns of them, so it changes nothing here
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline void fence_proxy_async_shared_cta() { machine::proxy_fence(machine::self()); }
inline void fence_mbarrier_init_release_cluster() { machine::mbarrier_init_fence(machine::self()); }
inline void fence_acq_rel_cta() {}
inline void fence_acq_rel_cluster() {}
inline void fence_acq_rel_gpu() {}

}  // namespace fp8twin
