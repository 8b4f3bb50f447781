// What the capture's kernels take and leave behind: plain structs that both sides read.
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin::capture {

/// One output where card and oracle differ.
struct Mismatch {
  u64 tile;
  u32 row, column;
  u32 c, card, model;  // bits
  u32 distribution;
};

struct CompareArguments {
  u64 seed;
  u64 tiles;
  u32 distribution;  // 1..12, as docs/numerics.md numbers them
  u32 scale_d;       // 0: the accumulators hold poison, the oracle takes +0
  u64* compared;
  u64* mismatch_count;
  Mismatch* mismatches;
  u32 mismatch_capacity;
};

/// Dynamic shared memory of compare<Config>: the bytes of its Tile, as device/compare.hpp asserts.
constexpr u32 compare_shared_bytes(u32 n, u32 k_steps) {
  const u32 rows = 64 + n, k = 32 * k_steps;
  return rows * k * (1 + 2) + rows * 4 + 64 * (n + 1) * 4;  // codes, decoded; NaN bits; d
}

/// The three conversions, by the index of their checksums.
enum Conversion : u32 { to_e4m3 = 0, to_e5m2 = 1, to_bf16 = 2, conversions = 3 };

/// One input of a conversion where card and oracle differ.
struct ConversionMismatch {
  u32 conversion, input, card, model;
};

/// Inputs are cut into blocks of 2^24; every block has a checksum.
inline constexpr u32 conversion_blocks = 256;

struct ConvertArguments {
  u64* checksums;  // [conversions][conversion_blocks]
  u64* mismatch_count;
  ConversionMismatch* mismatches;
  u32 mismatch_capacity;
};

struct GemmCheckArguments {
  const u8* a;
  const float* a_scale;
  const u8* b;
  const float* b_scale;
  const void* d;  // what the kernel stored: BF16 or FP32
  u32 m, n, k;
  u32 d_stride;  // elements from one row of d to the next
  u32 output_f32;
  u64* compared;
  u64* mismatch_count;
  Mismatch* mismatches;
  u32 mismatch_capacity;
};

}  // namespace fp8twin::capture
