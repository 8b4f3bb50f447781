// Special registers: who am I. PTX ISA, "Special Registers": %tid, %ctaid, %nctaid.
//
//   grid    nctaid_x blocks wide          a thread's warp is tid_x() / 32, its lane tid_x() % 32;
//   block   ctaid_x, ctaid_y              a warpgroup is four warps, the first a multiple of four
//   thread  tid_x
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

}  // namespace fp8twin
