// barrier.cluster: all threads of all blocks of a cluster meet. PTX ISA, "barrier.cluster".
//
//   barrier_cluster_arrive()           .release.aligned: what this thread wrote is visible to whoever waits
//   barrier_cluster_arrive_relaxed()   .relaxed.aligned: an arrival and no more. A release costs a fence of the whole GPU's
//                                      memory (MEMBAR.ALL.GPU in the machine code); where only mbarriers must be seen,
//                                      fence.mbarrier_init before it is enough, and at a kernel's end nothing must be
//   barrier_cluster_wait()             .acquire.aligned: until every thread of the cluster has arrived
//
// A kernel with multicast needs it before the first remote access, since the other block may not have begun; and at the
// end, unless it knows otherwise that nobody writes to its shared memory or arrives in it any more (the ladder's producers
// wait for the last releases: gpu/kernels/multicast.hpp).
#pragma once

#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE void barrier_cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

FP8TWIN_DEVICE void barrier_cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

FP8TWIN_DEVICE void barrier_cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace fp8twin
