// The block-scaled GEMM by another way, on the card: one output a thread, the tensor core as integers, the
// promotion in FP64.
//
//   P   the oracle of dot_oracle.hpp, four steps from +0
//   s   fl32(sa * sb): the FP64 product of two FP32 is exact, so its conversion rounds once
//   s*P + total  the FP64 product is exact (24 + 14 bits); the FP64 sum is made odd when inexact, so that the
//                conversion to FP32 rounds as if the sum had been exact (53 >= 24 + 2 bits)
//
// No FP32 arithmetic, no wgmma, no shared memory: nothing in common with the kernel but its inputs.
#pragma once

#include "gpu/capture/device/convert.hpp"
#include "gpu/capture/device/dot_oracle.hpp"

namespace fp8twin::capture {

__device__ inline u32 round_to_f32(double x) {
  return isnan(x) ? nan_result : __float_as_uint(__double2float_rn(x));
}

/// fma.rn.f32 through FP64. `p` is the exact product.
__device__ inline u32 add_rounding_once(double p, double c) {
  double sum = __dadd_rz(p, c);
  // The error of a sum, exactly (Knuth): when it is not zero, truncation has dropped something below the last
  // bit.
  const double nearest = __dadd_rn(p, c), back = __dsub_rn(nearest, p);
  const double error = __dadd_rn(__dsub_rn(p, __dsub_rn(nearest, back)), __dsub_rn(c, back));
  if (isfinite(nearest) && error != 0) sum = __longlong_as_double(__double_as_longlong(sum) | 1);
  return round_to_f32(sum);
}

__device__ inline void read_operand(const u8* row, u32 k0, u32 k, u32 (&words)[16], bool& nan) {
#pragma unroll
  for (u32 i = 0; i < 32; ++i) {
    const u8 code = k0 + i < k ? row[k0 + i] : 0;
    nan |= code_is_nan(code);
    const u32 half = i % 2 * 16;
    words[i / 2] = (half ? words[i / 2] : 0) | static_cast<u32>(decode_operand(code)) << half;
  }
}

__device__ inline u32 gemm_output(const GemmCheckArguments& g, u32 row, u32 column) {
  const u32 k_blocks = (g.k + 127) / 128;
  float total = 0;
  for (u32 block = 0; block < k_blocks; ++block) {
    u32 p = 0;
    for (u32 step = 0; step < 4; ++step) {
      const u32 k0 = block * 128 + step * 32;
      u32 a[16], b[16];
      bool nan = false;
      read_operand(g.a + u64{row} * g.k, k0, g.k, a, nan);
      read_operand(g.b + u64{column} * g.k, k0, g.k, b, nan);
      p = nan ? nan_result : dot32<13>(a, b, 1, p);
    }
    const double sa = g.a_scale[u64{row} * k_blocks + block],
                 sb = g.b_scale[u64{column / 128} * k_blocks + block];
    const double s = __uint_as_float(round_to_f32(sa * sb));
    total = __uint_as_float(add_rounding_once(s * __uint_as_float(p), total));
  }
  return g.output_f32 ? __float_as_uint(total) : narrow_bf16(__float_as_uint(total));
}

template <class Config>
__device__ inline void check_gemm(Config, const GemmCheckArguments& g) {
  const u64 outputs = u64{g.m} * g.n, stride = u64{gridDim.x} * blockDim.x;
  u64 compared = 0;
  for (u64 i = u64{blockIdx.x} * blockDim.x + threadIdx.x; i < outputs; i += stride) {
    const u32 model = gemm_output(g, static_cast<u32>(i / g.n), static_cast<u32>(i % g.n));
    const u64 at = i / g.n * g.d_stride + i % g.n;
    const u32 card = g.output_f32 ? static_cast<const u32*>(g.d)[at] : static_cast<const u16*>(g.d)[at];
    ++compared;
    if (card == model) continue;
    const u64 place = atomicAdd(g.mismatch_count, u64{1});
    if (place < g.mismatch_capacity) {
      g.mismatches[place] = {0, static_cast<u32>(i / g.n), static_cast<u32>(i % g.n), 0, card, model, 0};
    }
  }
  atomicAdd(g.compared, compared);
}

}  // namespace fp8twin::capture
