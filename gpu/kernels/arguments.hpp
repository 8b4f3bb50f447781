// What the host hands to a kernel: plain structs that both sides read, passed by value; and how much dynamic
// shared memory the kernel then uses.
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin {

/// D [m,n] = A [m,k] B [n,k]^T with a scale for each row of A and each 128 rows of B, for each 128 of k.
/// Row-major, rows not padded; the base addresses are multiples of 16.
struct GemmArguments {
  const u8* a;
  const float* a_scale;  // [m, ceil(k/128)]
  const u8* b;
  const float* b_scale;  // [ceil(n/128), ceil(k/128)]
  void* d;               // BF16 codes or FP32
  u32 m, n, k;
};

/// Tiles of A [64 x 128] and B [tile_n x 128], and 1024 bytes to round the start up to the swizzle's period.
constexpr u32 gemm_1_one_tile_shared_bytes(u32 tile_n) { return 1024 + (64 + tile_n) * 128; }

/// Tiles of one chain of wgmma each: a [tiles,64,K], b [tiles,N,K], c and d [tiles,64,N].
struct WgmmaArguments {
  const u8* a;
  const u8* b;
  const float* c;
  float* d;
  u32 scale_d;  // of the first instruction; 0 takes c for nothing
};

/// One tile of A [64 x K] and B [n x K].
constexpr u32 wgmma_chain_shared_bytes(u32 n, u32 k_steps) { return (64 + n) * 32 * k_steps; }

}  // namespace fp8twin
