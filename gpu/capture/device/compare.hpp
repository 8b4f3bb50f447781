// The tensor core against the oracle, on the card: random tiles, one warpgroup a block, every output
// compared.
//
//   draw A, B, C -> wgmma chain of k_steps -> D in shared memory -> the oracle, thread by thread -> counters
//
// C is drawn twice, once for the accumulators and once for the oracle; D then lies where C lay. Rows of D are
// n + 1 words apart, so that 32 lanes reading 32 rows meet 32 banks.
#pragma once

#include "gpu/capture/device/dot_oracle.hpp"
#include "gpu/capture/device/inputs.hpp"
#include "gpu/capture/records.hpp"
#include "gpu/kernels/wgmma_chain.hpp"

namespace fp8twin::capture {

template <class Config>
struct Tile {
  static constexpr u32 n = Config::n, k = 32 * Config::k_steps;
  u8 a[64 * k], b[n * k];                               // codes, as core matrices
  alignas(16) u16 a_decoded[64 * k], b_decoded[n * k];  // row by row
  u32 a_nan[64], b_nan[n];                              // bit s: a NaN among the codes of K step s
  u32 d[64 * (n + 1)];
};

/// Rows x k codes into a tile of core matrices, decoded beside it, NaN noted.
template <u32 Rows, u32 Columns>
__device__ inline void draw_operand(u32 distribution, u64 key, u64 tile, u8* codes, u16* decoded, u32* nan) {
  for (u32 i = threadIdx.x; i < Rows * Columns; i += warpgroup) {
    const u32 row = i / Columns, column = i % Columns;
    const u32 row_bits = random_bits(key + 2, tile << 20 | row);
    const u8 code = draw_code(distribution, random_bits(key, tile << 20 | i), row_bits);
    codes[core_offset(Rows, row, column)] = code;
    decoded[i] = decode_operand(code);
    if (code_is_nan(code)) atomicOr(&nan[row], 1u << (column / 32));
  }
}

__device__ inline u32 draw_accumulator(const CompareArguments& args, u64 key, u64 tile, u32 index) {
  const u32 bits = random_bits(key, tile << 20 | index * 2),
            more = random_bits(key, tile << 20 | (index * 2 + 1));
  return args.scale_d ? draw_c(args.distribution, bits, more) : draw_poison(bits, more);
}

/// What the oracle says of output (row, column), through all steps.
template <class Config>
__device__ inline u32 expected(const Tile<Config>& t, u32 row, u32 column, u32 c) {
#pragma unroll 1
  for (u32 step = 0; step < Config::k_steps; ++step) {
    if ((t.a_nan[row] | t.b_nan[column]) >> step & 1) {
      c = nan_result;
      continue;
    }
    u32 a[16], b[16];
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      const uint4 wa = reinterpret_cast<const uint4*>(t.a_decoded + row * t.k + 32 * step)[i];
      const uint4 wb = reinterpret_cast<const uint4*>(t.b_decoded + column * t.k + 32 * step)[i];
      a[4 * i] = wa.x, a[4 * i + 1] = wa.y, a[4 * i + 2] = wa.z, a[4 * i + 3] = wa.w;
      b[4 * i] = wb.x, b[4 * i + 1] = wb.y, b[4 * i + 2] = wb.z, b[4 * i + 3] = wb.w;
    }
    c = dot32<Config::oracle_bits>(a, b, Config::scale_a * Config::scale_b, c);
  }
  return c;
}

template <class Config>
__device__ inline void report(const CompareArguments& args, u64 tile, u32 row, u32 column, u32 c, u32 card,
                              u32 model) {
  const u64 place = atomicAdd(args.mismatch_count, u64{1});
  if (place < args.mismatch_capacity) {
    args.mismatches[place] = {tile, row, column, c, card, model, args.distribution};
  }
}

template <class Config>
__device__ inline void compare(Config config, const CompareArguments& args) {
  static_assert(sizeof(Tile<Config>) == compare_shared_bytes(Config::n, Config::k_steps));
  Tile<Config>& t = *static_cast<Tile<Config>*>(__cvta_shared_to_generic(dynamic_shared()));
  constexpr u32 n = Config::n, k = Tile<Config>::k;
  const u32 a_tile = dynamic_shared(), b_tile = a_tile + 64 * k;
  const u64 a_key = stream_key(args.seed, 1), b_key = stream_key(args.seed, 2),
            c_key = stream_key(args.seed, 3);
  u64 compared = 0;

  for (u64 tile = blockIdx.x; tile < args.tiles; tile += gridDim.x) {
    for (u32 i = threadIdx.x; i < 64 + n; i += warpgroup) (i < 64 ? t.a_nan[i] : t.b_nan[i - 64]) = 0;
    __syncthreads();
    draw_operand<64, k>(args.distribution, a_key, tile, t.a, t.a_decoded, t.a_nan);
    draw_operand<n, k>(args.distribution, b_key, tile, t.b, t.b_decoded, t.b_nan);
    for (u32 i = threadIdx.x; i < 64 * n; i += warpgroup) {
      t.d[i / n * (n + 1) + i % n] = draw_accumulator(args, c_key, tile, i);
    }
    fence_proxy_async_shared_cta();
    __syncthreads();

    Accumulator<n> d;
#pragma unroll
    for (u32 i = 0; i < n / 2; ++i) {
      const Coordinate at = accumulator_coordinate(threadIdx.x, i);
      d[i] = __uint_as_float(t.d[at.row * (n + 1) + at.column]);
    }
    multiply(config, d, a_tile, b_tile, args.scale_d);
#pragma unroll
    for (u32 i = 0; i < n / 2; ++i) {
      const Coordinate at = accumulator_coordinate(threadIdx.x, i);
      t.d[at.row * (n + 1) + at.column] = __float_as_uint(d[i]);
    }
    __syncthreads();

    const u32 row = threadIdx.x % 64;
#pragma unroll 1
    for (u32 column = threadIdx.x / 64; column < n; column += 2) {
      const u32 c = draw_accumulator(args, c_key, tile, row * n + column);
      const u32 model = expected(t, row, column, args.scale_d ? c : 0), card = t.d[row * (n + 1) + column];
      if (card != model) report<Config>(args, tile, row, column, c, card, model);
      ++compared;
    }
    __syncthreads();
  }
  atomicAdd(args.compared, compared);
}

}  // namespace fp8twin::capture
