// mov.b32: the bits of a float as a word, and back. PTX ISA, "mov", "Scalar Data Movement".
//
//   mov_b32_f32(1.0f) = 0x3f800000      mov_f32_b32(0x7f800000) = infinity
//
// Registers have no type in the machine code: neither costs an instruction, and no bit changes, of a NaN either.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE u32 mov_b32_f32(float x) {
  u32 bits;
  asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

FP8TWIN_DEVICE float mov_f32_b32(u32 bits) {
  float x;
  asm("mov.b32 %0, %1;" : "=f"(x) : "r"(bits));
  return x;
}

}  // namespace fp8twin
