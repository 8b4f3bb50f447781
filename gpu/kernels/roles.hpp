// Who does what in a warp-specialised kernel: the producer's and the consumers' registers and rows.
//
//   threads      0 .. 127      128 .. 255      256 .. 383
//   warpgroup    producer      consumer 0      consumer 1
//   rows of A    -             0 .. 63         64 .. 127
//
//   registers    at launch 168 168 168: of 65536, the most that 384 threads can have
//                after     40  232 232: P and total of 192 columns are 192 registers
//                one consumer warpgroup: 256 threads have up to 255 each. They give and take all the same: ptxas then
//                knows the consumers' code for uniform, and keeps descriptors out of vector registers
//                three of them, 512 threads:  128 128 128 128  ->  56 152 152 152
//                groups: the producer's warpgroup walks over them, and stores rows:  56 224 224
#pragma once

#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// By all threads of the producer's warpgroup.
template <class Config>
FP8TWIN_DEVICE void give_registers(Config config) {
  const u32 consumers = consumer_threads(config) / warpgroup;
  const bool groups = config.grouping != Grouping::none;
  if (consumers == 1 && !groups) setmaxnreg_dec<40>();
  if (consumers == 1 && groups) setmaxnreg_dec<96>();
  if (consumers == 2 && !groups) setmaxnreg_dec<40>();
  if (consumers == 2 && groups) setmaxnreg_dec<56>();
  if (consumers == 3) setmaxnreg_dec<56>();
}

/// By all consumers.
template <class Config>
FP8TWIN_DEVICE void take_registers(Config config) {
  const u32 consumers = consumer_threads(config) / warpgroup;
  const bool groups = config.grouping != Grouping::none;
  if (consumers == 1) setmaxnreg_inc<256>();
  if (consumers == 2 && !groups) setmaxnreg_inc<232>();
  if (consumers == 2 && groups) setmaxnreg_inc<224>();
  if (consumers == 3) setmaxnreg_inc<152>();
}

/// Where the 64 rows of A of this consumer's warpgroup begin.
FP8TWIN_DEVICE u32 own_rows(u32 a_tile, u32 thread) { return a_tile + thread / warpgroup * (64 * k_block); }

}  // namespace fp8twin
