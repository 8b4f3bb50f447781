// BF16: the upper half of a binary32, the output format of the GEMM. PTX type .bf16.
//
//     15 14       7 6       0
//    [ s | exponent | fraction ]   bias 127: the range of binary32 with 8 significant bits
//
// Conversion as cvt.rn.bf16.f32 does it: nearest even, overflow to infinity, subnormals kept, every NaN to 0x7fff.
// Measured on an H200 over all 2^32 inputs (tests/golden/conversions.json).
#pragma once

#include <cstdint>

#include "emulator/number/small_float.hpp"

namespace fp8twin {

struct BF16 {
  std::uint16_t code = 0;

  static constexpr BF16 rn(float x) {
    if (fp8twin::is_nan(x)) return {0x7fff};
    const std::uint32_t bits = f32_bits(x);
    // Adding half an ulp less one, plus the last kept bit, carries exactly when nearest-even rounds up.
    return {static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
  }

  constexpr float value() const { return f32_from_bits(static_cast<std::uint32_t>(code) << 16); }
  constexpr bool is_nan() const { return (code & 0x7fff) > 0x7f80; }

  friend constexpr bool operator==(BF16, BF16) = default;
};

}  // namespace fp8twin
