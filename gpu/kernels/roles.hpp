// Who does what in a warp-specialised kernel: the producer's and the consumers' registers and rows.
//
//   threads      0 .. 127      128 .. 255      256 .. 383
//   warpgroup    producer      consumer 0      consumer 1
//   rows of A    -             0 .. 63         64 .. 127
//   registers    40            232             232             = 504, of 3 * 168 at launch
//                40            240             -               = 280, of 2 * 168 at least
#pragma once

#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

inline constexpr u32 producer_registers = 40;

/// Registers of a consumer thread: what the producer leaves over, a multiple of 8.
constexpr u32 consumer_registers(u32 tile_m) { return tile_m == 64 ? 240 : 232; }

/// By all consumers. The instruction wants a constant, so the choice is an `if`, which the card's compiler folds.
template <class Config>
FP8TWIN_DEVICE void take_consumer_registers(Config config) {
  if (config.tile_m == 64) {
    setmaxnreg_inc<consumer_registers(64)>();
  } else {
    setmaxnreg_inc<consumer_registers(128)>();
  }
}

/// Where the 64 rows of A of this consumer's warpgroup begin.
FP8TWIN_DEVICE u32 own_rows(u32 a_tile, u32 thread) { return a_tile + thread / warpgroup * (64 * k_block); }

}  // namespace fp8twin
