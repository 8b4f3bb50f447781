// E4M3: the 8-bit float that Hopper's tensor core multiplies. PTX type .e4m3; F8_E4M3 in safetensors files.
//
//      7   6     3   2     0
//    [ s | exponent | fraction ]   bias 7     largest 448 (0x7e)   smallest normal 2^-6   smallest subnormal 2^-9
//
// No infinity; NaN is 0x7f and 0xff only. Source: OCP 8-bit Floating Point Specification 1.0; conversions: PTX ISA
// cvt.rn.satfinite.e4m3x2.f32, measured on an H200 over all 2^32 inputs (tests/golden/conversions.json).
#pragma once

#include <cstdint>

#include "emulator/number/small_float.hpp"

namespace fp8twin {

struct E4M3 {
  std::uint8_t code = 0;

  /// Round to nearest even and saturate: |x| >= 464 and infinity give +-448, every NaN gives 0x7f.
  static constexpr E4M3 satfinite(float x) {
    return {static_cast<std::uint8_t>(encode_satfinite(e4m3_format, x))};
  }

  /// Round to nearest even; beyond 464 (the tie that still goes to 448) the result is NaN with the sign of x.
  static constexpr E4M3 nonsaturating(float x, NanSign nan_sign = NanSign::drop) {
    return {static_cast<std::uint8_t>(encode_nonsaturating(e4m3_format, x, nan_sign))};
  }

  constexpr float value() const { return decode(e4m3_format, code); }
  constexpr bool is_nan() const { return (code & 0x7f) == 0x7f; }
  constexpr bool is_zero() const { return (code & 0x7f) == 0; }
  constexpr bool is_negative() const { return code & 0x80; }

  /// Integer significand in 0..15 and the exponent that goes with it: |value| = significand * 2^(exponent - 3).
  /// A subnormal keeps the exponent -6 of the smallest normals; nothing is renormalised.
  constexpr int significand() const { return (code & 7) | ((code & 0x78) ? 8 : 0); }
  constexpr int exponent() const { return ((code & 0x78) ? (code >> 3) & 15 : 1) - 7; }

  friend constexpr bool operator==(E4M3, E4M3) = default;
};

}  // namespace fp8twin
