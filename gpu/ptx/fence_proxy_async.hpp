// fence.proxy.async: what ordinary stores wrote to shared memory becomes visible to the async proxy. PTX ISA,
// "membar/fence".
//
//   st.shared ...            every thread that wrote
//   fence.proxy.async        every thread that wrote, before the barrier
//   bar.sync
//   wgmma reads the tile     through the async proxy, as TMA does; loads and stores take the generic one
#pragma once

#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE void fence_proxy_async_shared_cta() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace fp8twin
