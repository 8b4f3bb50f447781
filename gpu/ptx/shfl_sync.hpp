// shfl.sync.idx: every lane of `mask` reads the register of lane `lane`. PTX ISA, "shfl.sync".
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE u32 shfl_sync_idx_b32(u32 value, u32 lane, u32 mask) {
  u32 result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, %3;"
               : "=r"(result)
               : "r"(value), "r"(lane), "r"(mask)
               : "memory");
  return result;
}

FP8TWIN_DEVICE float shfl_sync_idx_b32(float value, u32 lane, u32 mask) {
  float result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, %3;"
               : "=f"(result)
               : "f"(value), "r"(lane), "r"(mask)
               : "memory");
  return result;
}

}  // namespace fp8twin
