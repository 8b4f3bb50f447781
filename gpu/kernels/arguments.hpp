// What the host hands to a kernel: plain structs that both sides read, passed by value.
#pragma once

#include "emulator/layout/integers.hpp"
#include "emulator/layout/tensor_map.hpp"
#include "gpu/kernels/config.hpp"

namespace fp8twin {

/// Where a traced launch writes (trace_layout.hpp says what), and the one tile it follows.
struct TraceArguments {
  void* words = nullptr;
  u32 tile_m = 0, tile_n = 0;  // in tiles of the product as the kernel sees it
  u32 group = 0;
  u32 k_blocks = 0;  // of that group
};

/// D [m,n] = A [m,k] B [n,k]^T with a scale for each row of A and each 128 rows of B, for each 128 of k. Row-major; the
/// base addresses are multiples of 16.
struct GemmArguments {
  const u8* a;           // rows not padded
  const float* a_scale;  // [m, ceil(k/128)]
  const u8* b;           // rows not padded
  const float* b_scale;  // [ceil(n/128), ceil(k/128)], from step 8 on for each group
  void* d;               // BF16 codes or FP32
  u32 m, n, k;
  u32 d_stride;  // elements from one row of D to the next
  TraceArguments trace;
  bool b_once = false;   // from step 8 on: memory reads each line of B once, so it need not stay in L2
  u32 raster_shift = 3;  // from step 8 on: a group of raster.hpp is 2^raster_shift rows of tiles

  // From step 8 on: groups.hpp says what m, k and the table are for each grouping.
  u32 groups = 1;
  const u32* group_table = nullptr;
  const float* c = nullptr;  // like D; read where the sum is stored as BF16. An FP32 D begins as c.
};

constexpr u32 k_blocks_of(const GemmArguments& g) { return (g.k + k_block - 1) / k_block; }

/// The same with A and B, from step 7 on D, and from step 8 on A's scales, [ceil(k/128), rows of A], as tensor maps, and B's
/// likewise where it has one for each row; what a map stands for is not read from gemm.
struct TmaGemmArguments {
  TensorMap a, b, d, a_scale, b_scale;
  GemmArguments gemm;
};

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
