// The conversions over all 2^32 inputs: the card's cvt against integers, and a checksum of every 2^24
// results.
//
// Checksum of a block: the sum over its inputs of mix(input << 32 | code), modulo 2^64. A sum, so that
// threads may add in any order; mixed, so that swapped or shifted codes show. tests/golden recomputes it from
// the emulator's conversions.
#pragma once

#include "gpu/capture/records.hpp"
#include "gpu/ptx/cvt.hpp"

namespace fp8twin::capture {

__device__ inline u64 checksum_term(u32 input, u32 code) {
  u64 x = (u64{input} << 32 | code) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

/// |x| to nearest even in a format of 8 bits, saturated. The bias is 2^(exponent_bits - 1) - 1.
__device__ inline u32 narrow(u32 bits, u32 exponent_bits, u32 largest) {
  const u32 magnitude = bits & 0x7fffffffu, sign = bits >> 31 << 7;
  if (magnitude > 0x7f800000u) return 0x7f;
  const i32 fraction_bits = static_cast<i32>(7 - exponent_bits), bias = (1 << (exponent_bits - 1)) - 1;
  const i32 field = static_cast<i32>(magnitude >> 23) - 127 + bias;  // of the result, were it normal
  u32 code;
  if (field >=
      1) {  // drop the low bits of exponent and fraction taken together: a carry moves to the next binade
    const u32 rebiased = magnitude - (static_cast<u32>(127 - bias) << 23),
              drop = static_cast<u32>(23 - fraction_bits);
    code = rebiased >> drop;
    const u32 rest = rebiased << (32 - drop);
    if (rest > 0x80000000u || (rest == 0x80000000u && code % 2 == 1)) ++code;
  } else {  // subnormal: units of 2^(1 - bias - fraction_bits)
    const u32 significand = (magnitude & 0x7fffff) | (magnitude >> 23 ? 0x800000u : 0);
    const i32 drop = 23 - fraction_bits + 1 - field;
    if (drop > 31) {
      code = 0;
    } else {
      code = significand >> drop;
      const u32 rest = significand << (32 - drop);
      if (rest > 0x80000000u || (rest == 0x80000000u && code % 2 == 1)) ++code;
    }
  }
  return sign | (code < largest ? code : largest);
}

__device__ inline u32 narrow_bf16(u32 bits) {
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  const u32 rest = bits << 16, code = bits >> 16;
  return code + (rest > 0x80000000u || (rest == 0x80000000u && code % 2 == 1));
}

__device__ inline void check(const ConvertArguments& args, Conversion conversion, u32 input, u32 card,
                             u32 model) {
  if (card == model) return;
  const u64 place = atomicAdd(args.mismatch_count, u64{1});
  if (place < args.mismatch_capacity) args.mismatches[place] = {conversion, input, card, model};
}

/// Grid (any, conversion_blocks): block y takes the inputs y * 2^24 + 0 .. 2^24 - 1.
template <class Config>
__device__ inline void convert(Config, const ConvertArguments& args) {
  u64 sum[conversions] = {};
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << 24; i += gridDim.x * blockDim.x) {
    const u32 x = blockIdx.y << 24 | i;
    // The upper byte converts another input at the same time: it must neither suffer nor disturb.
    const u32 other = x ^ 0x5a5a5a5au;
    const u32 e4m3 = cvt_rn_satfinite_e4m3x2_f32(__uint_as_float(other), __uint_as_float(x));
    const u32 e5m2 = cvt_rn_satfinite_e5m2x2_f32(__uint_as_float(other), __uint_as_float(x));
    const u32 bf16 = cvt_rn_bf16_f32(__uint_as_float(x));
    check(args, to_e4m3, x, e4m3 & 0xff, narrow(x, 4, 0x7e));
    check(args, to_e4m3, other, e4m3 >> 8, narrow(other, 4, 0x7e));
    check(args, to_e5m2, x, e5m2 & 0xff, narrow(x, 5, 0x7b));
    check(args, to_e5m2, other, e5m2 >> 8, narrow(other, 5, 0x7b));
    check(args, to_bf16, x, bf16, narrow_bf16(x));
    sum[to_e4m3] += checksum_term(x, e4m3 & 0xff);
    sum[to_e5m2] += checksum_term(x, e5m2 & 0xff);
    sum[to_bf16] += checksum_term(x, bf16);
  }
  for (u32 i = 0; i < conversions; ++i)
    atomicAdd(&args.checksums[i * conversion_blocks + blockIdx.y], sum[i]);
}

}  // namespace fp8twin::capture
