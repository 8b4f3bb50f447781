// Random inputs drawn on the card: value i of a stream is a pure function of (key, i), so the model's thread
// can draw again what the tensor core's thread drew, and no input crosses the bus.
//
// The rounds are those of B. Widynski's "Squares" (counter times key, then four squarings with their halves
// swapped). This generator shares nothing with emulator/support/random.hpp: the two sides are tested on
// different inputs.
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin::capture {

__device__ inline u64 swap_halves(u64 x) { return x >> 32 | x << 32; }

__device__ inline u32 random_bits(u64 key, u64 counter) {
  const u64 y = counter * key, z = y + key;
  u64 x = swap_halves(y * y + y);
  x = swap_halves(x * x + z);
  x = swap_halves(x * x + y);
  return static_cast<u32>((x * x + z) >> 32);
}

/// A key with irregular digits for one stream of a seed. Odd, so that counter * key is a bijection.
__device__ inline u64 stream_key(u64 seed, u32 stream) {
  u64 x = (seed + 1) * 0xc4ceb9fe1a85ec53u + stream * 0x9e3779b97f4a7c15u;
  for (int round = 0; round < 3; ++round) x = swap_halves(x * (x | 1) + 0x2545f4914f6cdd1du);
  return x | 1;
}

}  // namespace fp8twin::capture
