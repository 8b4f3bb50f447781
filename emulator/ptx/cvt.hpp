// cvt: FP32 to the small formats, nearest even, and binary16 to FP32, exactly. PTX ISA, "cvt". Of two operands the first goes to the upper half.
#pragma once

#include "emulator/layout/integers.hpp"
#include "emulator/number/bf16.hpp"
#include "emulator/number/e4m3.hpp"
#include "emulator/number/e5m2.hpp"
#include "emulator/number/f16.hpp"

namespace fp8twin {

inline u16 cvt_rn_bf16_f32(float x) { return BF16::rn(x).code; }

inline u32 cvt_rn_bf16x2_f32(float upper, float lower) {
  return u32{BF16::rn(upper).code} << 16 | BF16::rn(lower).code;
}

inline u16 cvt_rn_satfinite_e4m3x2_f32(float upper, float lower) {
  return static_cast<u16>(E4M3::satfinite(upper).code << 8 | E4M3::satfinite(lower).code);
}

inline u16 cvt_rn_satfinite_e5m2x2_f32(float upper, float lower) {
  return static_cast<u16>(E5M2::satfinite(upper).code << 8 | E5M2::satfinite(lower).code);
}

inline float cvt_f32_f16(u16 code) { return canonical(F16{code}.value()); }

}  // namespace fp8twin
