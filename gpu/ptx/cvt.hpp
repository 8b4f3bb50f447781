// cvt: FP32 to the small formats, nearest even, and binary16 to FP32. PTX ISA, "cvt".
//
//   cvt_rn_bf16_f32                one BF16 code; NaN becomes 0x7fff
//   cvt_rn_bf16x2_f32              two: the first operand goes to the upper half
//   cvt_rn_satfinite_e4m3x2_f32    two codes: the first operand goes to the upper byte
//   cvt_rn_satfinite_e5m2x2_f32    likewise
//   cvt_f32_f16                    exact: every binary16 is a binary32
//
// The narrowing ones compared over all 2^32 inputs and both bytes: tests/golden/conversions.json.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE u16 cvt_rn_bf16_f32(float x) {
  u16 code;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(code) : "f"(x));
  return code;
}

FP8TWIN_DEVICE u32 cvt_rn_bf16x2_f32(float upper, float lower) {
  u32 codes;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(upper), "f"(lower));
  return codes;
}

FP8TWIN_DEVICE u16 cvt_rn_satfinite_e4m3x2_f32(float upper, float lower) {
  u16 codes;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(upper), "f"(lower));
  return codes;
}

FP8TWIN_DEVICE u16 cvt_rn_satfinite_e5m2x2_f32(float upper, float lower) {
  u16 codes;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(upper), "f"(lower));
  return codes;
}

FP8TWIN_DEVICE float cvt_f32_f16(u16 code) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(code));
  return x;
}

}  // namespace fp8twin
