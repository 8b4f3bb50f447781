// bar: the named barriers of a block, and of a warp. PTX ISA, "bar, barrier", "bar.warp.sync".
//
//   bar_sync(id, threads)      `threads` threads (a multiple of 32) meet at barrier `id` (0..15)
//   bar_arrive(id, threads)    counts as one of them and goes on: the others wait for it, it for nobody
//   bar_warp_sync(mask)        the lanes of `mask` meet
//
// What a thread wrote to shared and global memory before the barrier, all who waited at it see after it.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE void bar_sync(u32 id, u32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

FP8TWIN_DEVICE void bar_arrive(u32 id, u32 threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

FP8TWIN_DEVICE void bar_warp_sync(u32 mask) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }

}  // namespace fp8twin
