// Promotion where every column of the tile has a scale of its own.
//
//   1D1D         a column is a row of B, which has a scale; and a row is one of A, which has, too
//   swapped      a column is a row of A; a row is one of B, 64 of which lie in one scale block, or have a scale each
//
//                 columns   0    1   ...    8 j + 2 (lane % 4), and the one after it
//   row l / 4             | s0   s1         s = mul_rn(row scale, column scale): one for each register, where a scale for
//   row l / 4 + 8         | s2   s3         128 columns needs two for a thread's whole fragment
//
// Twice the arithmetic of promotion.hpp, and loads. Multiplying the scales ahead, under the product, was tried: the
// multiplications then compete with the tensor core for the registers' ports, and it was 3% slower.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// s for every register of a fragment. `columns`: shared address of tile_n scales; `rows`: those of this thread's two rows.
template <class Config>
FP8TWIN_DEVICE void multiply_scales(Config config, u32 columns, const float (&rows)[2], u32 thread,
                                    Registers<Config::width>& s) {
  const bool equal = config.swapped && !config.b_scale_per_row;  // both rows have one scale
  FP8TWIN_UNROLL
  for (u32 group = 0; group < config.tile_n / 8; ++group) {
    const u32 i = 4 * group;
    const F32x2 column = ld_shared_v2_f32(columns + 4 * accumulator_coordinate(thread, i).column);
    s[i] = mul_rn(rows[0], column.x);
    s[i + 1] = mul_rn(rows[0], column.y);
    s[i + 2] = equal ? s[i] : mul_rn(rows[1], column.x);
    s[i + 3] = equal ? s[i + 1] : mul_rn(rows[1], column.y);
  }
}

/// `first`: of a tile's K blocks, so that the total was zero; it is not read, and need not be cleared.
template <class Config>
FP8TWIN_DEVICE void promote_scaled(Config config, Registers<Config::width>& s, Accumulator<Config::width>& p,
                                   Registers<Config::width>& total, bool first = false) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.tile_n / 2; ++i) total[i] = fma_rn(s[i], p[i], first ? 0.0f : total[i]);
}

}  // namespace fp8twin
