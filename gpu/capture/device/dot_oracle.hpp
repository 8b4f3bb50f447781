// The oracle: wgmma.m64nNk32.f32.e4m3.e4m3 of one output as 32-bit integers, from docs/numerics.md section 1
// alone.
//
//   decoded operand       significand -15..15, exponent -6..8 (zero: -64, so that it never is the largest)
//   product               significand p (units of 2^(e-6)) at exponent e
//   on the grid 2^(E-13)  |p| * 2^(e-6) = (|p| << 7) >> (E-e), in units of the grid
//   C                     24-bit significand, units of 2^(e-23): >> (E-e) + 10
//
// It shares no code with emulator/number, so that the card, this and the emulator are three witnesses.
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin::capture {

inline constexpr u32 nan_result = 0x7fffffffu;

__device__ inline bool code_is_nan(u8 code) { return (code & 0x7f) == 0x7f; }

/// Significand in the low byte, exponent in the high byte, both signed.
__device__ inline u16 decode_operand(u8 code) {
  const i32 field = code >> 3 & 15, fraction = code & 7;
  i32 significand = field ? 8 + fraction : fraction;
  const i32 exponent = significand == 0 ? -64 : (field ? field : 1) - 7;
  if (code & 0x80) significand = -significand;
  return static_cast<u16>((significand & 0xff) | (exponent & 0xff) << 8);
}

__device__ inline i32 significand_of(u32 packed) { return static_cast<i8>(packed & 0xff); }
__device__ inline i32 exponent_of(u32 packed) { return static_cast<i8>(packed >> 8 & 0xff); }

/// |value| >> shift with the sign put back: truncation toward zero. (A zero's shift may be negative: any will
/// do.)
__device__ inline i32 truncate(i32 value, i32 shift) {
  const i32 magnitude = abs(value) >> min(static_cast<u32>(shift), 31u);
  return value < 0 ? -magnitude : magnitude;
}

/// sum * 2^(E-bits), cut to 13 fraction bits.
__device__ inline u32 pack_sum(i32 sum, i32 E, i32 bits) {
  if (sum == 0) return 0;
  const u32 sign = sum < 0 ? 0x80000000u : 0;
  u32 magnitude = static_cast<u32>(abs(sum));
  const i32 top = 31 - __clz(static_cast<i32>(magnitude));  // the leading one stands for 2^exponent
  const i32 exponent = E - bits + top;
  if (exponent < -126) {  // the exponent is pinned: units of 2^-139
    const i32 shift = E - bits + 139;
    return sign | (shift >= 0 ? magnitude << shift : magnitude >> -shift) << 10;
  }
  magnitude = top > 13 ? magnitude >> (top - 13) : magnitude << (13 - top);
  return sign | static_cast<u32>(exponent + 127) << 23 | (magnitude & 0x1fff) << 10;
}

/// One output: 32 pairs of decoded operands (none NaN), two to a word, and the bits of C. `sign` is -1 when
/// exactly one operand is negated. `Bits` is 13; another width is a control, which must fail.
template <i32 Bits>
__device__ inline u32 dot32(const u32 (&a)[16], const u32 (&b)[16], i32 sign, u32 c) {
  if ((c & 0x7fffffffu) > 0x7f800000u) return nan_result;
  if ((c & 0x7fffffffu) == 0x7f800000u) return c;

  i32 E = -1000;
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    const u32 half = k % 2 * 16;
    E = max(E, exponent_of(a[k / 2] >> half) + exponent_of(b[k / 2] >> half));
  }
  if (E < -12) E = -1000;  // -6 + -6 is the least exponent of a product that is not zero
  const i32 c_field = static_cast<i32>(c >> 23 & 0xff);
  const i32 c_significand = static_cast<i32>((c & 0x7fffff) | (c_field ? 0x800000 : 0));
  const i32 c_exponent = (c_field ? c_field : 1) - 127;
  if (c_significand != 0) E = max(E, c_exponent);
  if (E == -1000) return 0;  // thirty-three zeros

  i32 sum = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    const u32 half = k % 2 * 16;
    const i32 p = significand_of(a[k / 2] >> half) * significand_of(b[k / 2] >> half);
    sum += truncate(p << (Bits - 6), E - exponent_of(a[k / 2] >> half) - exponent_of(b[k / 2] >> half));
  }
  sum *= sign;
  const i32 c_term = c_significand >> min(E - c_exponent + 23 - Bits, 31);
  sum += c & 0x80000000u ? -c_term : c_term;
  return pack_sum(sum, E, Bits);
}

}  // namespace fp8twin::capture
