// The twelve input distributions of docs/numerics.md as the card draws them. Each makes another rule of the
// tensor core's sum decide many outputs: 1 uniform, 2 with NaN, 3 exponents 4-11, 4 sparse, 5 subnormal, 6
// one exponent a row, 7 any C, 8 wide C, 9 extremes, 10 normal, 11 zeros, 12 rare subnormals. C is zero or
// +-2^-16..2^23 unless said otherwise. Of one name, card and host (emulator/model/distribution.cpp) draw from
// streams of their own; and `normal` here is four bytes summed, at one of two widths a row, which is another
// bell than the host's.
#pragma once

#include "gpu/capture/device/random.hpp"
#include "gpu/ptx/cvt.hpp"

namespace fp8twin::capture {

/// One code of A or B. `row_bits` are random bits shared by the row.
__device__ inline u8 draw_code(u32 distribution, u32 bits, u32 row_bits) {
  const u32 sign = bits >> 31 << 7, fraction = bits >> 8 & 7, chance = bits & 0xff;
  u32 exponent = bits >> 11 & 15;
  switch (distribution) {
    case 2:
      return static_cast<u8>(chance);
    case 3:
      exponent = 4 + exponent / 2;
      break;
    case 4:
      if (chance >= 32) return static_cast<u8>(sign);
      break;
    case 5:
      exponent = 0;
      break;
    case 6:
      exponent = row_bits & 15;
      break;
    case 9:
      exponent = exponent < 12 ? exponent / 3 : 15;
      break;
    case 10: {  // four bytes summed: a bell; stretched until its flanks reach 448
      const i32 sum =
          static_cast<i32>((bits & 0xff) + (bits >> 8 & 0xff) + (bits >> 16 & 0xff) + (bits >> 24)) - 510;
      return static_cast<u8>(
          cvt_rn_satfinite_e4m3x2_f32(0.0f, static_cast<float>(sum) * (row_bits & 1 ? 1.0f : 0.0625f)));
    }
    case 11:
      return static_cast<u8>(sign);
    case 12:
      if (chance >= 8) return static_cast<u8>(sign);
      exponent = 0;
      break;
  }
  const u32 magnitude = exponent << 3 | fraction;
  return static_cast<u8>(sign | (magnitude == 0x7f ? 0x7e : magnitude));
}

/// The bits of +-2^e, e in [low, high], with 23 fraction bits, the low `clear` of them zero.
__device__ inline u32 draw_spread(u32 bits, u32 more, i32 low, i32 high, u32 clear) {
  const u32 e = static_cast<u32>(low + 127) + ((more & 0xffff) * static_cast<u32>(high - low + 1) >> 16);
  return (bits & 0x80000000u) | e << 23 | ((bits & 0x7fffff) >> clear << clear);
}

/// The bits of one accumulator value.
__device__ inline u32 draw_c(u32 distribution, u32 bits, u32 more) {
  switch (distribution) {
    case 5:
      return draw_spread(bits, more, -24, -5, 0);
    case 7:
    case 11:
      return bits;
    case 8:
      return draw_spread(bits, more, -20, 24, 0);
    case 12:
      return (bits & 0x807fffffu) | (((more & 0xffff) * 127 >> 16) << 23);
  }
  return (more >> 30) == 0 ? 0 : draw_spread(bits, more, -16, 23, more >> 29 & 1 ? 10 : 0);
}

/// What an accumulator might hold that nobody initialised: NaNs and infinities of both signs, and anything at
/// all.
__device__ inline u32 draw_poison(u32 bits, u32 more) {
  switch (more & 3) {
    case 0:
      return bits | 0x7f800001u;
    case 1:
      return (bits & 0x80000000u) | 0x7f800000u;
    case 2:
      return 0xffffffffu;
  }
  return bits;
}

}  // namespace fp8twin::capture
