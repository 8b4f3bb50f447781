// div.rn.f32: a / b rounded once, to nearest even, subnormals kept. PTX ISA, "div".
//
// There is no divider: ptxas writes a reciprocal of MUFU and a few fma that correct it, and a slow path for operands at
// the ends of the range. The result is IEEE 754's in every bit; div.full and div.approx are other instructions.
#pragma once

#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE float div_rn(float a, float b) {
  float d;
  asm("div.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}

}  // namespace fp8twin
