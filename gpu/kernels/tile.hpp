// K-major tiles in shared memory: two ways to lay 16-byte chunks, and the loop that brings them from global
// memory.
//
//   core matrices (no swizzle)                       128-byte swizzle, rows of 128 bytes
//     8 rows x 16 bytes = 128 contiguous bytes         chunk c of row r sits at chunk c ^ (r % 8)
//     next 8 rows:     + 128 (stride offset)           8 rows = 1024 bytes (stride offset)
//     next 16 bytes of K: + 16 * rows (leading)        the tile starts at a multiple of 1024
//
// The swizzle acts on absolute address bits (XOR 4-6 with 7-9), which is what wgmma and TMA do; so the writer
// applies it to the address and needs no row number. Loads fill with zeros past the matrix: a zero code adds
// nothing to a sum.
#pragma once

#include "emulator/layout/descriptor.hpp"
#include "emulator/layout/swizzle.hpp"
#include "gpu/kernels/config.hpp"
#include "gpu/kernels/machine.hpp"

namespace fp8twin {

/// Where byte `column` of `row` lies in a tile of core matrices, from the tile's start.
FP8TWIN_DEVICE constexpr u32 core_offset(u32 rows, u32 row, u32 column) {
  return (column / 16) * (16 * rows) + row * 16 + column % 16;
}

/// The 32 columns of K step `step` of a tile of core matrices.
FP8TWIN_DEVICE constexpr u64 core_descriptor(u32 tile, u32 rows, u32 step) {
  return encode(
      MatrixDescriptor{tile + core_offset(rows, 0, 32 * step), 16 * rows, 128, 0, SwizzleMode::none});
}

/// A block's tile of D: its number along M and N, and its first row and column.
struct Tile {
  u32 m, n, row0, column0;
};

template <class Config>
FP8TWIN_DEVICE constexpr Tile tile_at(Config config, u32 m, u32 n) {
  return {m, n, m * config.tile_m, n * config.tile_n};
}

/// The 32 columns of K step `step` (0..3) of a tile with 128-byte swizzle. The start address counts in 16 bytes and has
/// the lowest bits, so a step is an addition: one encoding serves all four.
FP8TWIN_DEVICE constexpr u64 swizzled_descriptor(u32 tile, u32 step) {
  return encode(MatrixDescriptor{tile, 0, 1024, 0, SwizzleMode::b128}) + 2 * step;
}

/// Sixteen bytes of row `row` from column `column` on, zero where the matrix [rows, columns] has ended.
FP8TWIN_DEVICE U32x4 load_chunk(const u8* matrix, u32 row, u32 rows, u32 column, u32 columns) {
  if (row >= rows || column >= columns) return {};
  const u8* at = matrix + static_cast<u64>(row) * columns + column;
  if (columns % 16 == 0)
    return ld_global_nc_v4_u32(at);  // every row starts on 16 bytes, every chunk is whole
  u32 word[4] = {};
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 16; ++i) {
    if (column + i < columns) word[i / 4] |= static_cast<u32>(ld_global_nc_u8(at + i)) << (8 * (i % 4));
  }
  return {word[0], word[1], word[2], word[3]};
}

/// One warpgroup brings `tile_rows` x 128 bytes from (row0, column0) of `matrix` into a swizzled tile.
FP8TWIN_DEVICE void load_swizzled_tile(u32 tile, u32 tile_rows, const u8* matrix, u32 row0, u32 rows,
                                       u32 column0, u32 columns) {
  for (u32 chunk = tid_x(); chunk < tile_rows * 8; chunk += warpgroup) {
    const u32 row = chunk / 8, byte = 16 * (chunk % 8);
    st_shared_v4_u32(swizzle(SwizzleMode::b128, tile + k_block * row + byte),
                     load_chunk(matrix, row0 + row, rows, column0 + byte, columns));
  }
}

/// One warpgroup brings a whole matrix of `rows` x `columns` bytes into a tile of core matrices.
FP8TWIN_DEVICE void load_core_tile(u32 tile, const u8* matrix, u32 rows, u32 columns) {
  for (u32 chunk = tid_x(); chunk < rows * (columns / 16); chunk += warpgroup) {
    const u32 row = chunk / (columns / 16), column = 16 * (chunk % (columns / 16));
    st_shared_v4_u32(tile + core_offset(rows, row, column), load_chunk(matrix, row, rows, column, columns));
  }
}

}  // namespace fp8twin
