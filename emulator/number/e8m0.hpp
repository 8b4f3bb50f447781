// E8M0: a scale that is a power of two, stored as its exponent alone. PTX type .ue8m0; F8_E8M0 in safetensors.
//
//    value = 2^(code - 127), code 0..254;   code 255 is NaN.   No sign, no zero.
//
// Source: OCP Microscaling Formats 1.0; PTX ISA cvt, .ue8m0x2. On Hopper no instruction takes such a scale:
// kernels read it as FP32, so this project stores UE8M0 scales as F32 powers of two.
#pragma once

#include <cstdint>

#include "emulator/number/float_bits.hpp"

namespace fp8twin {

struct E8M0 {
  std::uint8_t code = 0;

  /// The smallest power of two >= x, by bits: exponent + (fraction != 0), clamped to code 1..254 (2^-126..2^127),
  /// so that the scale and its reciprocal are normal binary32. x must be positive and finite or zero; NaN and
  /// infinity give NaN (0xff).
  static constexpr E8M0 round_up(float x) {
    const std::uint32_t bits = f32_bits(x) & ~f32_sign;
    if (bits >= f32_infinity) return {0xff};
    const std::uint32_t up = (bits >> 23) + ((bits & 0x7fffff) ? 1u : 0u);
    return {static_cast<std::uint8_t>(up < 1 ? 1u : up > 254 ? 254u : up)};
  }

  constexpr float value() const {
    return code == 0xff ? f32_from_bits(f32_canonical_nan) : power_of_two(static_cast<int>(code) - 127);
  }
  constexpr bool is_nan() const { return code == 0xff; }

  friend constexpr bool operator==(E8M0, E8M0) = default;
};

}  // namespace fp8twin
