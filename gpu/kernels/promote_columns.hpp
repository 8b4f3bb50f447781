// Promotion where every column of the tile has a scale of its own.
//
//   1D1D         a column is a row of B, which has a scale; and a row is one of A, which has, too
//   swapped      a column is a row of A; a row is one of B, 64 of which lie in one scale block, or have a scale each
//
//                 columns   0    1   ...    8 j + 2 (lane % 4), and the one after it
//   row l / 4             | x    x          s = mul_rn(row scale, column scale): one for each register, where a scale for
//   row l / 4 + 8         | x    x          128 columns needs two for a thread's whole fragment
//
// So a K block costs twice the arithmetic of promotion.hpp, and loads; the bits follow the same formula.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// One K block of a slab. `columns`: shared address of tile_n scales; `rows`: those of this thread's two rows.
template <class Config>
FP8TWIN_DEVICE void promote_columns(Config config, u32 columns, const float (&rows)[2], u32 thread,
                                    Accumulator<Config::width>& p, Registers<Config::width>& total,
                                    bool first = false) {
  const bool equal = config.swapped && !config.b_scale_per_row;  // both rows have one scale
  FP8TWIN_UNROLL
  for (u32 group = 0; group < config.tile_n / 8; ++group) {
    const u32 i = 4 * group;
    const F32x2 column = ld_shared_v2_f32(columns + 4 * accumulator_coordinate(thread, i).column);
    const float s0 = mul_rn(rows[0], column.x), s1 = mul_rn(rows[0], column.y);
    const float s2 = equal ? s0 : mul_rn(rows[1], column.x), s3 = equal ? s1 : mul_rn(rows[1], column.y);
    total[i] = fma_rn(s0, p[i], first ? 0.0f : total[i]);
    total[i + 1] = fma_rn(s1, p[i + 1], first ? 0.0f : total[i + 1]);
    total[i + 2] = fma_rn(s2, p[i + 2], first ? 0.0f : total[i + 2]);
    total[i + 3] = fma_rn(s3, p[i + 3], first ? 0.0f : total[i + 3]);
  }
}

}  // namespace fp8twin
