// A trace: what the probes of one launch write about one tile, as 32-bit words in one array, in this order.
//
//   a_tile       [k_blocks][tile_m * 32]                    A as it landed in shared memory, in address order
//   b_tile       [k_blocks][tile_n * 32]                    B likewise
//   accumulator  [k_blocks][4][threads][tile_n / 2]         FP32, after each k32 step: register by register
//   promoted     [k_blocks][threads][tile_n / 2]            FP32, after each K block
//   output       [tile_m][tile_n]                           the bits stored (BF16 in the low half), zero past D's ends
//
// `threads` are 128 for each slab of 64 rows: the consumers', unless a warpgroup has two slabs (tiles of 256 rows) and its
// threads count twice. Of step 9 A and B change places, and the output is a tile of D transposed. Kernel and host take every
// offset from here.
#pragma once

#include "gpu/kernels/config.hpp"

namespace fp8twin {

struct TraceLayout {
  u32 tile_m, tile_n, k_blocks;

  constexpr u32 threads() const { return 2 * tile_m; }
  constexpr u32 registers() const { return tile_n / 2; }

  // Sizes of one item of each section, and where the item starts; all in words.
  constexpr u64 a_tile_words() const { return tile_m * (k_block / 4); }
  constexpr u64 b_tile_words() const { return tile_n * (k_block / 4); }
  constexpr u64 fragment_words() const { return threads() * registers(); }
  constexpr u64 output_words() const { return tile_m * tile_n; }

  constexpr u64 a_tile(u32 block) const { return block * a_tile_words(); }
  constexpr u64 b_tile(u32 block) const { return a_tile(k_blocks) + block * b_tile_words(); }
  /// Step 0 to 3 of a K block.
  constexpr u64 accumulator(u32 block, u32 step) const {
    return b_tile(k_blocks) + (u64{4} * block + step) * fragment_words();
  }
  constexpr u64 promoted(u32 block) const { return accumulator(k_blocks, 0) + block * fragment_words(); }
  constexpr u64 output() const { return promoted(k_blocks); }
  constexpr u64 words() const { return output() + output_words(); }

  /// Inside a fragment.
  constexpr u64 fragment_word(u32 thread, u32 reg) const { return thread * registers() + reg; }
};

}  // namespace fp8twin
