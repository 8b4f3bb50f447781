// redux.sync.max.u32: the largest of a register over the lanes of `mask`, in every lane. PTX ISA, "redux.sync".
//
//   lane     0   1   2  ...  31
//   value    3   9   4  ...   1      ->   9 in all of them
//
// One instruction for what takes five shuffles. Integers only; but the bits of floats without a sign, compared as
// integers, stand in the order of their values: 0 < subnormal < normal < infinity < NaN.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE u32 redux_sync_max_u32(u32 value, u32 mask) {
  u32 result;
  asm volatile("redux.sync.max.u32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask) : "memory");
  return result;
}

}  // namespace fp8twin
