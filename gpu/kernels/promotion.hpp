// Promotion: the 13-bit sum of one K block, scaled, joins the FP32 total.
//
//   s     = mul_rn(scale_a[row], scale_b[column / 128])        one rounding
//   total = fma_rn(s, P, total)                                one rounding
//
//        columns of the tile   column0 ............ 128 j ............ column0 + tile_n
//        scale of B                   b[0]            |      b[1]            (b[2])
//
// A thread's registers lie in two rows, 8 apart, hence two scales of A. Scale blocks of B are 128 columns of the
// matrix, wherever the tile begins; an 8-column group of the accumulator never straddles two of them, since both begin
// on multiples of 8. Rows and columns past the ends have scale 0 and are not stored.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// The scales of one K block that one thread needs.
struct BlockScales {
  float a[2], b[3];
};

/// Columns of a tile's start, and of a scale block's end in it, are multiples of this.
constexpr u32 scale_granularity(u32 tile_n) {
  const u32 power = tile_n & (~tile_n + 1);
  return power < 128 ? power : 128;
}

/// Scale blocks of B that a tile of this width can meet: its first column is a multiple of the width, hence of the
/// largest power of two in it.
constexpr u32 scale_blocks_met(u32 tile_n) {
  return (128 - scale_granularity(tile_n) + tile_n - 1) / 128 + 1;
}

/// `thread` counts among the consumers.
template <class Config>
FP8TWIN_DEVICE BlockScales load_scales(Config config, const GemmArguments& g, const Tile& tile, u32 thread,
                                       u32 block) {
  const u32 k_blocks = k_blocks_of(g);
  BlockScales scales;
  FP8TWIN_UNROLL
  for (u32 half = 0; half < 2; ++half) {
    const u32 row = tile.row0 + accumulator_coordinate(thread, 2 * half).row;
    scales.a[half] = row < g.m ? ld_global_nc_f32(g.a_scale + static_cast<u64>(row) * k_blocks + block) : 0;
  }
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 3; ++i) {
    const u32 row = tile.column0 / 128 + i;
    const bool needed = i < scale_blocks_met(config.tile_n) && row < (g.n + 127) / 128;
    scales.b[i] = needed ? ld_global_nc_f32(g.b_scale + static_cast<u64>(row) * k_blocks + block) : 0;
  }
  return scales;
}

/// `column0`: of the tile. `first`: of its K blocks, so that the total was zero; it is not read, and need not be cleared.
template <class Config>
FP8TWIN_DEVICE void promote(Config config, u32 column0, const BlockScales& scales,
                            Accumulator<Config::width>& p, Registers<Config::width>& total,
                            bool first = false) {
  const u32 met = scale_blocks_met(config.tile_n), offset = column0 % 128;
  float product[3][2];  // of each scale of B with each of A
  FP8TWIN_UNROLL
  for (u32 i = 0; i < met; ++i) {
    FP8TWIN_UNROLL
    for (u32 half = 0; half < 2; ++half) product[i][half] = mul_rn(scales.a[half], scales.b[i]);
  }
  float even = product[0][0], odd = product[0][1];  // of rows l / 4 and l / 4 + 8
  FP8TWIN_UNROLL
  for (u32 group = 0; group < config.tile_n / 8; ++group) {
    const u32 i = 4 * group, column = offset + 8 * group;
    if (met > 1 && group > 0 && 8 * group % scale_granularity(config.tile_n) == 0) {
      even = column == 128 ? product[1][0] : even;
      odd = column == 128 ? product[1][1] : odd;
      if (met == 3) {
        even = column == 256 ? product[2][0] : even;
        odd = column == 256 ? product[2][1] : odd;
      }
    }
    total[i] = fma_rn(even, p[i], first ? 0.0f : total[i]);
    total[i + 1] = fma_rn(even, p[i + 1], first ? 0.0f : total[i + 1]);
    total[i + 2] = fma_rn(odd, p[i + 2], first ? 0.0f : total[i + 2]);
    total[i + 3] = fma_rn(odd, p[i + 3], first ? 0.0f : total[i + 3]);
  }
}

template <class Config>
FP8TWIN_DEVICE void clear(Config config, Registers<Config::width>& total) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.tile_n / 2; ++i) total[i] = 0;
}

}  // namespace fp8twin
