// The staged epilogue: registers -> shared memory, swizzled -> TMA -> D.
//
//   each consumer warpgroup owns 64 rows of the staging tile, cut into panels as wide as a swizzle row
//
//     panel 0               panel 1                        BF16, tile_n = 128: two panels of 64 columns = 128 bytes
//     row 0  | 128 bytes |  row 0 | 128 bytes |            tile_n = 80: five of 16 columns = 32 bytes
//     ...                   ...
//     row 63 | 128 bytes |  row 63 ...                     one TMA store for each panel: box [64 x width]
//
// BF16: stmatrix writes 8 rows x 16 bytes at a time; the swizzle puts those eight rows on all 32 banks.
// FP32: a lane has two words of 8 bytes side by side; eight rows x 4 lanes of one word each meet only 16 banks, twice.
//       So lanes whose row has address bit 7 set, the bit that the swizzle brings to bit 4, store their second word
//       first: then 32 lanes meet 32 banks.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/shared_layout.hpp"
#include "gpu/kernels/tile.hpp"

namespace fp8twin {

/// Panels of `rows` rows each, from `base`, a multiple of 1024.
struct Panels {
  u32 base;
  SwizzleMode mode;
  u32 rows = 64;

  /// Byte `byte` of row `row` of the tile, before the swizzle.
  constexpr u32 linear(u32 row, u32 byte) const {
    const u32 width = swizzle_width(mode);
    return base + byte / width * (rows * width) + row * width + byte % width;
  }
  constexpr u32 address(u32 row, u32 byte) const { return swizzle(mode, linear(row, byte)); }
};

/// `thread` counts in the warpgroup from here on.
template <class Config>
FP8TWIN_DEVICE void stage_bf16(Config config, const Panels& panels, u32 thread,
                               Registers<Config::width>& total) {
  const u32 lane = thread % 32,
            row = thread / 32 * 16 + lane % 16;  // matrices 0 and 1: rows 0-7 and 8-15 of a warp
  const u32 groups = config.tile_n / 8;
  FP8TWIN_UNROLL
  for (u32 group = 0; group + 1 < groups; group += 2) {  // matrices 2 and 3: the next eight columns
    const u32 i = 4 * group;
    stmatrix_m8n8_x4_b16(
        panels.address(row, 16 * (group + lane / 16)),
        {cvt_rn_bf16x2_f32(total[i + 1], total[i]), cvt_rn_bf16x2_f32(total[i + 3], total[i + 2]),
         cvt_rn_bf16x2_f32(total[i + 5], total[i + 4]), cvt_rn_bf16x2_f32(total[i + 7], total[i + 6])});
  }
  if (groups % 2 == 1) {
    const u32 i = 4 * (groups - 1);
    stmatrix_m8n8_x2_b16(panels.address(row, 16 * (groups - 1)), cvt_rn_bf16x2_f32(total[i + 1], total[i]),
                         cvt_rn_bf16x2_f32(total[i + 3], total[i + 2]));
  }
}

template <class Config>
FP8TWIN_DEVICE void stage_f32(Config config, const Panels& panels, u32 thread,
                              Registers<Config::width>& total) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < config.tile_n / 2; i += 2) {
    const Coordinate at = accumulator_coordinate(thread, i);
    const u32 pair = panels.address(at.row, 4 * at.column);
    const u32 second = panels.linear(at.row, 4 * at.column) >> 7 & 1;  // which word goes first
    st_shared_f32(pair + 4 * second, second ? total[i + 1] : total[i]);
    st_shared_f32(pair + 4 - 4 * second, second ? total[i] : total[i + 1]);
  }
}

/// One warpgroup's 64 rows of totals, into staging rows of its own, which are free.
template <class Config>
FP8TWIN_DEVICE void stage_slab(Config config, u32 staging, u32 thread, Registers<Config::width>& total) {
  const Panels panels = {staging, panel_mode(staged_row_bytes(config))};
  if (config.output_f32) {
    stage_f32(config, panels, thread, total);
  } else {
    stage_bf16(config, panels, thread, total);
  }
}

/// One panel to D, or where the kernel accumulates an FP32 D, added to it.
template <class Config>
FP8TWIN_DEVICE void store_panel(Config config, const TensorMap& d, i32 column, i32 row, u32 panel) {
  if (config.accumulate && config.output_f32) {
    cp_reduce_async_bulk_tensor_2d_add_global_shared(d, column, row, panel);
  } else {
    cp_async_bulk_tensor_2d_global_shared(d, column, row, panel);
  }
}

/// By one thread, past a fence.proxy.async: the staged rows are on their way to D, from (row0, column0) on. The copy
/// drains while the next tile is computed.
template <class Config>
FP8TWIN_DEVICE void copy_slab(Config config, const TmaGemmArguments& arguments, u32 staging, u32 row0,
                              u32 column0) {
  const Panels panels = {staging, panel_mode(staged_row_bytes(config))};
  const u32 width = swizzle_width(panels.mode), element = config.output_f32 ? 4 : 2;
  for (u32 byte = 0; byte < staged_row_bytes(config); byte += width) {  // past D's ends TMA writes nothing
    store_panel(config, arguments.d, static_cast<i32>(column0 + byte / element), static_cast<i32>(row0),
                panels.linear(0, byte));
  }
  cp_async_bulk_commit_group();
}

}  // namespace fp8twin
