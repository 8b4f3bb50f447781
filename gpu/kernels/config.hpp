// A kernel's configuration: what a launch fixes before it starts.
//
//   on the card           an empty struct of static constexpr members, written by gpu/jit: every `if` folds
//   on the emulated CPU   MachineConfig, the same names at run time: one build runs every configuration
//
// A kernel takes it by value and reads config.tile_n either way. Template arguments are only the sizes of register arrays,
// since they are part of a type: width (tile_n), sets (slabs) and ring (in_flight) on the card, run_time on the CPU.
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin {

/// Bytes, and E4M3 codes, of one K block: the columns that share a scale.
inline constexpr u32 k_block = 128;
/// Threads of a warpgroup, which multiplies 64 rows.
inline constexpr u32 warpgroup = 128;

/// How the rows of A, or the columns of K, are grouped (groups.hpp). From step 8 on.
enum class Grouping : u32 {
  none,        // one product
  batched,     // as many products of one size
  contiguous,  // groups of rows, one after the other
  masked,      // room for m rows in each group, of which the first few count
  along_k,     // a product for each range of K blocks: the kind k-grouped
};

struct MachineConfig {
  u32 tile_m = 64;    // rows of D that a block computes: 64 for each consumer warpgroup
  u32 tile_n = 64;    // columns: a multiple of 8
  u32 stages = 1;     // K blocks in shared memory at a time
  u32 cluster_m = 1;  // blocks one below the other that share their tile of B
  u32 cluster_n = 1;  // blocks side by side that share their tile of A
  bool output_f32 = false;
  bool trace = false;
  u32 slabs = 1;  // slabs of 64 rows that one consumer warpgroup computes
  u32 in_flight =
      1;  // K blocks of a stage: a warpgroup has as many products under way, each in an accumulator of its own
  bool swapped = false;  // the rows of the tile are B's and the columns A's: D transposed
  Grouping grouping = Grouping::none;
  bool b_scale_per_row = false;  // 1D1D: B has a scale for each row, as A has; else for each 128 rows
  bool accumulate = false;       // D = c + product
  static constexpr u32 width = 0, sets = 0, ring = 0;  // register arrays take their sizes at run time
};

/// The same for the kernel wgmma_chain, one instruction or a chain along K.
struct MachineChainConfig {
  u32 n = 8, k_steps = 1;
  i32 scale_a = 1, scale_b = 1;  // -1 negates the operand
  bool a_in_registers = false;
  static constexpr u32 width = 0;
};

/// Threads that multiply: two for each row of a slab.
template <class Config>
constexpr u32 consumer_threads(Config config) {
  return 2 * config.tile_m / config.slabs;
}

}  // namespace fp8twin
