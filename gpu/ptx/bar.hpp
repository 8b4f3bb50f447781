// bar.sync: a named barrier of the block. PTX ISA, "bar, barrier".
//
// `threads` threads (a multiple of 32) meet at barrier `id` (0..15); what they wrote to shared and global
// memory before it, all of them see after it.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE void bar_sync(u32 id, u32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace fp8twin
