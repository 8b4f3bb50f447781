// The pairs (element in memory, element added to it) of the capture `reduce`: drawn alike by the card, the host and the replay in
// tests/golden.
//
//   table      all pairs of reduce_specials: pair i is (special i / 64, special i % 64)
//   drawn      pair i of a seed: one of eight kinds in turn, each of which makes another part of the sum decide
//
//     0 any 32 bits                       4 subnormal, or the smallest normal numbers
//     1 exponents at most 26 apart        5 exponents of a GEMM's sums: 2^-20 to 2^24
//     2 ties: few bits, half a step away  6 near overflow
//     3 nearly cancelling                 7 NaN, infinity and zero among any 32 bits
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin::capture {

inline constexpr u32 reduce_special_count = 64;

/// As bits. Zeros, subnormals, what is next to them, ones and half steps of one, whole numbers at 2^24, the largest numbers and
/// half a step of them, infinities, NaNs: quiet and signalling, of both signs and several payloads.
inline constexpr u32 reduce_specials[reduce_special_count] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000002, 0x00400000, 0x80400000, 0x00400001,
    0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x80800001, 0x00ffffff, 0x80ffffff,
    0x01000000, 0x81000000, 0x01800000, 0x0c800000, 0x8c800001, 0x3f800000, 0xbf800000, 0x3f800001,
    0xbf800001, 0x3f7fffff, 0x3fffffff, 0x40000000, 0xc0000000, 0x33800000, 0xb3800000, 0x33800001,
    0xb3800001, 0x337fffff, 0x33000000, 0xb3000000, 0x33ffffff, 0x34000000, 0x34400000, 0x4b800000,
    0xcb800000, 0x4b800001, 0x4b7fffff, 0x7f7fffff, 0xff7fffff, 0x7f000000, 0xff000000, 0x73000000,
    0xf3000000, 0x72ffffff, 0x73000001, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7fffffff,
    0xffffffff, 0x7f800001, 0xff800001, 0x7fa00000, 0xffbfffff, 0x7fc12345, 0xffc12345, 0x7f812345};

struct ReducePair {
  u32 memory, value;
};

/// A bijection of 64-bit words without a visible pattern; also the checksum's term.
constexpr u64 reduce_mix(u64 x) {
  x = (x ^ x >> 32) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 29) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

/// The checksum of results is the sum of these, modulo 2^64, so that threads may add in any order.
constexpr u64 reduce_term(u64 pair, u32 result) { return reduce_mix(reduce_mix(pair + 1) ^ result); }

/// The bits of +-2^(field - 127) * 1.fraction; subnormal for field 0.
constexpr u32 reduce_float(u32 sign, u32 field, u32 fraction) {
  return sign << 31 | field << 23 | (fraction & 0x7fffff);
}

constexpr ReducePair drawn_pair(u64 seed, u64 i) {
  const u64 a = reduce_mix(seed * 0xc4ceb9fe1a85ec53u + 2 * i), b = reduce_mix(a + 0x2545f4914f6cdd1du);
  const u32 x = static_cast<u32>(a), y = static_cast<u32>(a >> 32), z = static_cast<u32>(b),
            more = static_cast<u32>(b >> 32);
  const u32 sign = z >> 31, other = z >> 30 & 1, field = x >> 23 & 0xff;
  switch (i % 8) {
    case 1: {
      const u32 high = 27 + field % 228, low = high - more % 27;
      const u32 p = reduce_float(sign, high, x), q = reduce_float(other, low, y);
      return more >> 31 ? ReducePair{p, q} : ReducePair{q, p};
    }
    case 2: {
      const u32 high = 26 + field % 229, low = high - 25 + more % 3;
      return {reduce_float(sign, high, x), reduce_float(other, low, more >> 8 & 3 ? 0 : 1u << (y & 31))};
    }
    case 3: {
      const u32 finite = x & 0xff7fffff;
      return {finite, (finite ^ 0x80000000) + (more & 15) - 8};
    }
    case 4:
      return {reduce_float(sign, more & 1, x), reduce_float(other, more >> 1 & 1, y >> (more >> 8 & 15))};
    case 5:
      return {reduce_float(sign, 107 + (more & 0xffff) * 45 / 65536, x),
              reduce_float(other, 107 + (more >> 16) * 45 / 65536, y)};
    case 6:
      return {reduce_float(sign, 254 - (more & 1), x), reduce_float(other, 254 - (more >> 8) % 27, y)};
    case 7: {
      const u32 kind = more & 7, zero = kind == 4 ? 0 : 0x80000000;
      const u32 special = kind < 2 ? 0x7f800000 | kind << 31 : kind == 2 ? x | 0x7f800000 : x | 0x7fc00000;
      const u32 p = kind < 4 ? special : kind < 6 ? zero : y;
      return more >> 31 ? ReducePair{p, z} : ReducePair{z, p};
    }
  }
  return {x, y};
}

}  // namespace fp8twin::capture
