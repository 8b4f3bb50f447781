// mbarrier: a barrier in shared memory that counts arrivals, and bytes of asynchronous copies. PTX ISA, "mbarrier".
//
//   64 bits in shared memory      phase | pending arrivals | arrivals expected | tx-count
//
//   init(bar, count)              a phase wants `count` arrivals
//   arrive_expect_tx(bar, bytes)  one arrival, and `bytes` more to land before the phase may end
//   a copy that has landed        takes its bytes off the tx-count
//   the phase ends when both are 0; the next begins at once with `count` arrivals pending
//   try_wait_parity(bar, p)       true once the phase of parity p has ended: on a fresh barrier true for 1, false for 0
//
// try_wait may give up after a while: a kernel writes while (!mbarrier_try_wait_parity_b64(bar, parity)) {}.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE void mbarrier_init_b64(u32 bar, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

FP8TWIN_DEVICE void mbarrier_inval_b64(u32 bar) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}

FP8TWIN_DEVICE void mbarrier_arrive_b64(u32 bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}

FP8TWIN_DEVICE void mbarrier_arrive_expect_tx_b64(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

/// At a barrier of any block of the cluster: `remote_bar` is an address that mapa gave. Without .sem and .scope it is a
/// release in this block: reads before it are over, which is what hands a stage back. A .release.cluster would order
/// writes for the other block too, by a MEMBAR.ALL.GPU that costs half a microsecond a K block (measured: H200).
FP8TWIN_DEVICE void mbarrier_arrive_shared_cluster_b64(u32 remote_bar) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote_bar) : "memory");
}

FP8TWIN_DEVICE bool mbarrier_try_wait_parity_b64(u32 bar, u32 parity) {
  u32 done;
  asm volatile(
      "{\n.reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}\n"
      : "=r"(done)
      : "r"(bar), "r"(parity)
      : "memory");
  return done != 0;
}

}  // namespace fp8twin
