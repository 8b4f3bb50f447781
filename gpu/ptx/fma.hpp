// fma.rn.f32, mul.rn.f32, add.rn.f32: one rounding each, subnormals kept, every NaN result 0x7fffffff. PTX ISA, "fma",
// "mul", "add".
//
// A kernel never writes a*b + c: whether that is one rounding or two would be the compiler's choice. The
// explicit .rn keeps ptxas from fusing a multiply with the add behind it.
#pragma once

#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE float fma_rn(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}

FP8TWIN_DEVICE float mul_rn(float a, float b) {
  float d;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}

FP8TWIN_DEVICE float add_rn(float a, float b) {
  float d;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}

}  // namespace fp8twin
