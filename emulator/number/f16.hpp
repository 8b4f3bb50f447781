// binary16, read as an input of quantisation only: F16 in safetensors files.
//
//     15 14      10 9       0
//    [ s | exponent | fraction ]   bias 15    largest 65504    smallest subnormal 2^-24
//
// Source: IEEE 754-2019. Every value is a binary32 value, so reading one is exact.
#pragma once

#include <cstdint>

#include "emulator/number/small_float.hpp"

namespace fp8twin {

struct F16 {
  std::uint16_t code = 0;

  static constexpr F16 rn(float x) {
    return {static_cast<std::uint16_t>(encode_nonsaturating(f16_format, x))};
  }
  constexpr float value() const { return decode(f16_format, code); }

  friend constexpr bool operator==(F16, F16) = default;
};

}  // namespace fp8twin
