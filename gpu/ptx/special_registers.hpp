// Special registers: who am I. PTX ISA, "Special Registers": %tid, %ctaid, %nctaid, ...
//
//   grid     nctaid_x by nctaid_y blocks                   a thread's warp is tid_x() / 32, its lane
//   cluster  cluster_ctarank of cluster_nctarank blocks    tid_x() % 32 = laneid(); a warpgroup is four
//   block    ctaid_x, ctaid_y                              warps, the first a multiple of four
//   thread   tid_x
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE u32 tid_x() {
  u32 value;
  asm("mov.u32 %0, %%tid.x;" : "=r"(value));
  return value;
}

FP8TWIN_DEVICE u32 ctaid_x() {
  u32 value;
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(value));
  return value;
}

FP8TWIN_DEVICE u32 ctaid_y() {
  u32 value;
  asm("mov.u32 %0, %%ctaid.y;" : "=r"(value));
  return value;
}

FP8TWIN_DEVICE u32 nctaid_x() {
  u32 value;
  asm("mov.u32 %0, %%nctaid.x;" : "=r"(value));
  return value;
}

FP8TWIN_DEVICE u32 nctaid_y() {
  u32 value;
  asm("mov.u32 %0, %%nctaid.y;" : "=r"(value));
  return value;
}

/// This block's number in its cluster.
FP8TWIN_DEVICE u32 cluster_ctarank() {
  u32 value;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
  return value;
}

/// Blocks of the cluster; 1 in a launch without clusters.
FP8TWIN_DEVICE u32 cluster_nctarank() {
  u32 value;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(value));
  return value;
}

FP8TWIN_DEVICE u32 laneid() {
  u32 value;
  asm("mov.u32 %0, %%laneid;" : "=r"(value));
  return value;
}

}  // namespace fp8twin
