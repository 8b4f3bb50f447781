// Four neighbouring x of a row, which one lane loads, and the four codes that it stores: one instruction each where the
// row begins at a multiple of four elements, element by element where it does not, and at the ends.
//
//   lane        0         1         2    ...    31
//   columns   0..3      4..7      8..11        124..127      one row of a block
#pragma once

#include "gpu/kernels/quantize_scale.hpp"

namespace fp8twin {

/// As bits of binary32. What lies outside the array is +0, which no amax sees.
struct Quad {
  u32 x[4];
};

/// Exactly.
template <class Config>
FP8TWIN_DEVICE u32 widened(Config config, u32 code) {
  return config.input == InputFormat::bf16 ? code << 16 : mov_b32_f32(cvt_f32_f16(static_cast<u16>(code)));
}

template <class Config>
FP8TWIN_DEVICE Quad load_quad(Config config, const void* x, u64 at) {
  if (config.input == InputFormat::f32) {
    const U32x4 words = ld_global_nc_v4_u32(static_cast<const u32*>(x) + at);
    return {{words.x, words.y, words.z, words.w}};
  }
  const U32x2 pairs = ld_global_nc_v2_u32(static_cast<const u16*>(x) + at);
  return {{widened(config, pairs.x & 0xffff), widened(config, pairs.x >> 16),
           widened(config, pairs.y & 0xffff), widened(config, pairs.y >> 16)}};
}

/// The first `count` of four.
template <class Config>
FP8TWIN_DEVICE Quad load_elements(Config config, const void* x, u64 at, u32 count) {
  Quad quad = {};
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 4; ++i) {
    if (i >= count) continue;
    quad.x[i] = config.input == InputFormat::f32
                    ? ld_global_nc_u32(static_cast<const u32*>(x) + at + i)
                    : widened(config, ld_global_nc_u16(static_cast<const u16*>(x) + at + i));
  }
  return quad;
}

/// The largest |x| of four by the recipe's rule, as bits: a NaN is larger than all, or counts as 0.
template <class Config>
FP8TWIN_DEVICE u32 largest_of(Config config, const Quad& quad) {
  u32 largest = 0;
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 4; ++i) {
    const u32 size = quad.x[i] & f32_magnitude;
    const u32 counted = config.ignore_nan && size > f32_infinity_bits ? 0 : size;
    largest = counted > largest ? counted : largest;
  }
  return largest;
}

/// Four codes, the first in the lowest byte. cvt saturates and makes 0x7f of a NaN; a recipe may want otherwise.
template <class Config>
FP8TWIN_DEVICE u32 codes_of(Config config, const Quad& quad, float factor) {
  float quotient[4];
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 4; ++i) {
    const float x = mov_f32_b32(quad.x[i]);
    quotient[i] = divides(config) ? div_rn(x, factor) : mul_rn(x, factor);
  }
  u32 codes = static_cast<u32>(cvt_rn_satfinite_e4m3x2_f32(quotient[3], quotient[2])) << 16 |
              cvt_rn_satfinite_e4m3x2_f32(quotient[1], quotient[0]);
  constexpr u32 rounds_to_448 = 0x43e80000;  // 464, the tie between 448 and what would be 480
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 4; ++i) {
    const u32 size = mov_b32_f32(quotient[i]) & f32_magnitude;
    if (config.largest_code == 0x7f && size > rounds_to_448) codes |= 1u << 8 * i;  // 0x7e becomes 0x7f
    if (config.nan_code != 0x7f && size > f32_infinity_bits) codes ^= (config.nan_code ^ 0x7f) << 8 * i;
  }
  return codes;
}

/// Stores the first `count` of four codes.
FP8TWIN_DEVICE void store_codes(u8* to, u32 codes, u32 count) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 4; ++i) {
    if (i < count) st_global_u8(to + i, static_cast<u8>(codes >> 8 * i));
  }
}

}  // namespace fp8twin
