// A slab of which some rows do not count: a warp copies those that do, from the staging rows to D, and writes no other.
//
//   TMA stores whole boxes. One that hung over a group's end would write rows of the next group, or rows past a mask, which
//   belong to whoever owns the array. At most one slab of a group and a column of tiles is such a one.
//
//   a panel of the staging rows    row 0 | lane 0 | lane 1 | ...                 16 bytes each, of FP32 4
//                                  row 1 | lane 8 | ...
//
// Where D = c + product, an FP32 D begins as c, and what is staged is added to it: by TMA (cp.reduce.async.bulk.tensor) where
// the slab is whole, with an add here. A BF16 D is rounded after the sum: there the consumers add c to their registers.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/groups.hpp"
#include "gpu/kernels/staging.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// Four bytes of an FP32 slab.
template <class Config>
FP8TWIN_DEVICE void store_word(Config config, const GemmArguments& g, u64 index, u32 from) {
  float* to = static_cast<float*>(g.d) + index;
  const float value = ld_shared_f32(from);
  st_global_f32(to, config.accumulate ? add_rn(ld_global_f32(to), value) : value);
}

/// Sixteen of a BF16 one, of which `elements` are inside D.
FP8TWIN_DEVICE void store_chunk(const GemmArguments& g, u64 index, u32 elements, u32 from) {
  u16* to = static_cast<u16*>(g.d) + index;
  const U32x4 chunk = ld_shared_v4_u32(from);
  if (elements >= 8) return st_global_v4_u32(to, chunk);
  const u32 words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 8; ++i) {
    if (i < elements) st_global_u16(to + i, static_cast<u16>(words[i / 2] >> (16 * (i % 2))));
  }
}

/// By a whole warp: the first `rows` rows that `panels` holds, row_bytes wide, to D from (row0, column0) on. Lanes read in the
/// order of addresses, on all banks.
template <class Config>
FP8TWIN_DEVICE void copy_rows(Config config, const GemmArguments& g, const Panels& panels, u32 row_bytes,
                              u32 rows, u32 row0, u32 column0) {
  const u32 element = config.output_f32 ? 4 : 2, piece = config.output_f32 ? 4 : 16;
  const u32 width = swizzle_width(panels.mode), pieces = width / piece;
  for (u32 panel = 0; panel < row_bytes; panel += width) {
    for (u32 i = laneid(); i < rows * pieces; i += 32) {
      const u32 row = i / pieces, byte = panel + piece * (i % pieces), column = column0 + byte / element;
      if (column >= g.n) continue;
      const u64 index = static_cast<u64>(row0 + row) * g.d_stride + column;
      const u32 from = panels.address(row, byte);
      if (config.output_f32) {
        store_word(config, g, index, from);
      } else {
        store_chunk(g, index, g.n - column, from);
      }
    }
  }
}

/// Adds c to a slab's totals, before they are rounded to BF16. `slab_row`: the slab's first row in the tile.
template <class Config>
FP8TWIN_DEVICE void add_c(Config config, const GemmArguments& g, const Group& group, const Tile& tile,
                          u32 slab_row, u32 thread, Registers<Config::width>& total) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.tile_n / 2; ++i) {
    const Coordinate at = accumulator_coordinate(thread, i);
    const u32 of_tile_m = tile.row0 + slab_row + at.row, of_tile_n = tile.column0 + at.column;
    const u32 row = config.swapped ? of_tile_n : of_tile_m, column = config.swapped ? of_tile_m : of_tile_n;
    if (row >= group.rows || column >= g.n) continue;
    const u64 index = static_cast<u64>(group.d_row + row) * g.d_stride + column;
    total[i] = add_rn(ld_global_nc_f32(g.c + index), total[i]);
  }
}

}  // namespace fp8twin
