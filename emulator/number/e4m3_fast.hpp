// binary32 to E4M3 under any of the casts in use, without a branch. Same codes as e4m3.hpp, which has a branch for each rule;
// the lanes of quantize_loops.hpp are held against it over all floats.
//
//     normal     s eeeeeeee fffFFFFFFFFFFFFFFFFFFFF    round behind the third fraction bit by adding half an
//                          ---                         ulp (less one, plus the last kept bit: ties to even);
//                                                      a carry climbs into the exponent by itself
//     subnormal  |x| + 2^14                            the ulp there is 2^-9, E4M3's smallest step, so that
//                                                      the adder itself rounds to the grid
//
// Both are computed and one is kept. A cast is two bytes of data: where magnitudes saturate, and what a NaN
// becomes.
#pragma once

#include <cstdint>

#include "emulator/number/float_bits.hpp"

namespace fp8twin {

struct E4M3Cast {
  std::uint8_t largest;  // magnitudes above go here: 0x7e saturates, 0x7f is NaN with the sign of x
  std::uint8_t nan;      // the code of every NaN
};

inline constexpr E4M3Cast cast_satfinite{0x7e, 0x7f};      // cvt.rn.satfinite
inline constexpr E4M3Cast cast_nonsaturating{0x7f, 0x7f};  // frameworks' plain cast
inline constexpr E4M3Cast cast_clamped{0x7e, 0xfe};  // fminf(fmaxf(x, -448), 448) first: NaN becomes -448

/// take ? a : b, by mask: from ?: the compiler may make a branch, and then no vector code.
constexpr std::uint32_t blend(bool take, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = take ? 0xffffffffu : 0u;
  return (a & mask) | (b & ~mask);
}

constexpr std::uint8_t encode_e4m3(float x, E4M3Cast cast) {
  const std::uint32_t bits = f32_bits(x);
  const std::uint32_t magnitude = bits & ~f32_sign;

  const std::uint32_t normal = ((magnitude + 0x7ffff + ((magnitude >> 20) & 1)) >> 20) - ((127 - 7) << 3);
  const std::uint32_t subnormal = f32_bits(f32_from_bits(magnitude) + 0x1p14f) - f32_bits(0x1p14f);
  const auto code = static_cast<std::int32_t>(blend(magnitude < f32_bits(0x1p-6f), subnormal, normal));

  const std::int32_t limited = code < cast.largest ? code : cast.largest;
  const std::uint32_t with_sign = static_cast<std::uint32_t>(limited) | ((bits >> 24) & 0x80);
  return static_cast<std::uint8_t>(blend(magnitude > f32_infinity, cast.nan, with_sign));
}

}  // namespace fp8twin
