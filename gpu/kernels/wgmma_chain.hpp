// The instruction alone: a chain of wgmma along K on one 64 x N tile, operands as given. What the goldens
// record.
//
//   c -> accumulators -> k32, k32, ... -> d            each step starts from the 13-bit sum of the one before
//
// Config: n; k_steps (K = 32 * k_steps); scale_a, scale_b (1 or -1, the negation of an operand);
// a_in_registers. Tile x of the arrays belongs to block x. With scale_d 0 the first instruction ignores the
// accumulators: give c any poison.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/config.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// This thread's registers of A for K step `step`, from a tile of core matrices.
FP8TWIN_DEVICE AFragment load_a_fragment(u32 a_tile, u32 step) {
  AFragment a;
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 4; ++i) {
    const Coordinate at = a_fragment_coordinate(tid_x(), i, 0);
    a.reg[i] = ld_shared_u32(a_tile + core_offset(64, at.row, 32 * step + at.column));
  }
  return a;
}

/// One k32 step. Which operand is negated is part of the instruction, hence the choice by `if`.
template <class Config, class A>
FP8TWIN_DEVICE void multiply_step(Config config, Accumulator<Config::width>& d, const A& a, u64 b,
                                  u32 scale_d) {
  if (config.scale_a > 0 && config.scale_b > 0) {
    wgmma_mma_async_m64k32_f32_e4m3_e4m3<1, 1>(d, a, b, scale_d);
  } else if (config.scale_a > 0) {
    wgmma_mma_async_m64k32_f32_e4m3_e4m3<1, -1>(d, a, b, scale_d);
  } else if (config.scale_b > 0) {
    wgmma_mma_async_m64k32_f32_e4m3_e4m3<-1, 1>(d, a, b, scale_d);
  } else {
    wgmma_mma_async_m64k32_f32_e4m3_e4m3<-1, -1>(d, a, b, scale_d);
  }
}

/// d = A B^T + d over all steps, A and B in tiles of core matrices.
template <class Config>
FP8TWIN_DEVICE void multiply(Config config, Accumulator<Config::width>& d, u32 a_tile, u32 b_tile,
                             u32 scale_d) {
  if (config.a_in_registers) {
    FP8TWIN_UNROLL
    for (u32 step = 0; step < config.k_steps; ++step) {
      const AFragment a = load_a_fragment(a_tile, step);
      wgmma_fence(d);
      multiply_step(config, d, a, core_descriptor(b_tile, config.n, step), step ? 1 : scale_d);
      wgmma_commit_group();
      wgmma_wait_group<0>(d);  // a's registers are the tensor core's until here
    }
  } else {
    wgmma_fence(d);
    FP8TWIN_UNROLL
    for (u32 step = 0; step < config.k_steps; ++step) {
      multiply_step(config, d, core_descriptor(a_tile, 64, step), core_descriptor(b_tile, config.n, step),
                    step ? 1 : scale_d);
    }
    wgmma_commit_group();
    wgmma_wait_group<0>(d);
  }
}

template <class Config>
FP8TWIN_DEVICE void wgmma_chain(Config config, const WgmmaArguments& w) {
  const u32 n = config.n, k = 32 * config.k_steps;
  const u64 tile = ctaid_x();
  const u32 a_tile = dynamic_shared(), b_tile = a_tile + 64 * k;
  load_core_tile(a_tile, w.a + tile * (64 * k), 64, k);
  load_core_tile(b_tile, w.b + tile * (n * k), n, k);
  fence_proxy_async_shared_cta();
  bar_sync(0, warpgroup);

  // A coordinate is a thread's origin plus a register's constant offset: one address, and N/2 immediate
  // offsets to it.
  const Coordinate origin = accumulator_coordinate(tid_x(), 0);
  const u64 first = tile * (64 * n) + origin.row * n + origin.column;
  Accumulator<Config::width> d(config.n);
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.n / 2; ++i) {
    const Coordinate step = accumulator_coordinate(0, i);
    d[i] = ld_global_nc_f32(w.c + first + (step.row * n + step.column));
  }
  multiply(config, d, a_tile, b_tile, w.scale_d);
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.n / 2; ++i) {
    const Coordinate step = accumulator_coordinate(0, i);
    st_global_f32(w.d + first + (step.row * n + step.column), d[i]);
  }
}

}  // namespace fp8twin
