// E5M2: the other 8-bit float of Hopper, wider and coarser, used for gradients. PTX type .e5m2.
//
//      7   6     2   1     0
//    [ s | exponent | fraction ]   bias 15    largest 57344 (0x7b)   infinity 0x7c   smallest subnormal 2^-16
//
// Source: OCP 8-bit Floating Point Specification 1.0. This project reads and explains E5M2 and converts to it;
// its GEMM takes E4M3 only.
#pragma once

#include <cstdint>

#include "emulator/number/small_float.hpp"

namespace fp8twin {

struct E5M2 {
  std::uint8_t code = 0;

  /// cvt.rn.satfinite.e5m2x2.f32: overflow and infinity give +-57344, every NaN gives 0x7f.
  static constexpr E5M2 satfinite(float x) {
    return {static_cast<std::uint8_t>(encode_satfinite(e5m2_format, x))};
  }

  /// Overflow gives infinity. NaN gives 0x7f (or with its sign).
  static constexpr E5M2 nonsaturating(float x, NanSign nan_sign = NanSign::drop) {
    return {static_cast<std::uint8_t>(encode_nonsaturating(e5m2_format, x, nan_sign))};
  }

  constexpr float value() const { return decode(e5m2_format, code); }
  constexpr bool is_nan() const { return (code & 0x7f) > 0x7c; }
  constexpr bool is_infinite() const { return (code & 0x7f) == 0x7c; }

  friend constexpr bool operator==(E5M2, E5M2) = default;
};

}  // namespace fp8twin
