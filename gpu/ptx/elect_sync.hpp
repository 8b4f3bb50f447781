// elect.sync: one lane of a warp is chosen. PTX ISA, "elect.sync".
//
// All lanes of `mask` call it; exactly one gets true, the same one every time. It tells the compiler what
// tid_x() % 32 == 0 does not: that one thread runs on, and the warp's registers need no masks.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE bool elect_sync(u32 mask) {
  u32 elected;
  asm volatile(
      "{\n.reg .pred p;\n"
      "elect.sync _|p, %1;\n"
      "selp.u32 %0, 1, 0, p;\n}\n"
      : "=r"(elected)
      : "r"(mask)
      : "memory");
  return elected != 0;
}

}  // namespace fp8twin
