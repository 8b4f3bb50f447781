// Block quantisation: BF16, F16 or F32 to E4M3 codes and one FP32 scale a block, by any recipe. The bits are those of
// quantize() of emulator/number/quantize.hpp.
//
//   load   ->   amax of the block   ->   scale, factor   ->   cast(x * factor), or cast(x / factor)   ->   store
//
//   1x128     a warp has four blocks side by side in one row: 512 columns. It needs nobody else.
//   128x128   a thread block of eight warps has one: warp w the rows w, w + 8, ... The warps' eight amax meet in shared
//             memory.
//
//             lane 0      1            31
//   row       x0..x3    x4..x7  ...  x124..x127          and the codes where the x were
//
// x is read once: until the scale is known it waits in registers. A lane's four elements are one load and one store, so
// that a warp reads 256 or 512 bytes in a row.
//
// amax is found among integers: the bits of |x| are in the order of the values, with NaN above infinity, and
// redux.sync.max.u32 looks through a warp at once. All lanes then compute the same scale.
#pragma once

#include "gpu/kernels/quantize_quad.hpp"

namespace fp8twin {

/// How many of the four columns at `column` a row has.
constexpr u32 columns_at(const QuantizeArguments& q, u32 column) {
  return column >= q.columns ? 0 : q.columns - column < 4 ? q.columns - column : 4;
}

/// Of `Quads` quads, each `step` elements behind the one before: quad i has count(i) elements inside.
template <u32 Quads, class Config, class Count>
FP8TWIN_DEVICE void load_quads(Config config, const QuantizeArguments& q, Quad (&quads)[Quads], u64 at,
                               u64 step, bool whole, const Count& count) {
  if (whole) {  // no branch between the loads: all are on their way before the first has come
    FP8TWIN_UNROLL
    for (u32 i = 0; i < Quads; ++i) quads[i] = load_quad(config, q.x, at + i * step);
    return;
  }
  FP8TWIN_UNROLL
  for (u32 i = 0; i < Quads; ++i) {
    quads[i] = q.vectors && count(i) == 4 ? load_quad(config, q.x, at + i * step)
                                          : load_elements(config, q.x, at + i * step, count(i));
  }
}

/// Blocks of 1x128.
template <class Config>
FP8TWIN_DEVICE void quantize_rows(Config config, const QuantizeArguments& q) {
  const u32 row = ctaid_x() * quantize_warps + tid_x() / 32, lane = laneid();
  if (row >= q.rows) return;  // a whole warp
  for (u32 first = ctaid_y() * row_blocks_of_a_warp; first < q.column_blocks;
       first += nctaid_y() * row_blocks_of_a_warp) {
    const u32 column = 128 * first + 4 * lane;
    const u64 at = row * q.pitch + column;
    const bool whole = q.vectors && 128 * (first + row_blocks_of_a_warp) <= q.columns;
    const auto count = [&](u32 i) { return columns_at(q, column + 128 * i); };
    Quad quads[row_blocks_of_a_warp];
    load_quads(config, q, quads, at, 128, whole, count);

    float scale = 0;  // lane i keeps that of block i
    FP8TWIN_UNROLL
    for (u32 i = 0; i < row_blocks_of_a_warp; ++i) {
      const BlockFactor by =
          block_factor(config, redux_sync_max_u32(largest_of(config, quads[i]), 0xffffffff));
      const u32 codes = codes_of(config, quads[i], by.factor);
      if (lane == i) scale = by.scale;
      if (q.vectors && count(i) == 4) {
        st_global_u32(static_cast<u32*>(static_cast<void*>(q.codes + at + 128 * i)), codes);
      } else {
        store_codes(q.codes + at + 128 * i, codes, count(i));
      }
    }
    if (lane < row_blocks_of_a_warp && first + lane < q.column_blocks) {
      st_global_f32(q.scales + row * q.scale_pitch + first + lane, scale);
    }
  }
}

/// The largest of what the warps bring, in all threads.
FP8TWIN_DEVICE u32 largest_of_block(u32 value) {
  const u32 words = dynamic_shared(), of_warp = redux_sync_max_u32(value, 0xffffffff);
  if (laneid() == 0) st_shared_u32(words + 4 * (tid_x() / 32), of_warp);
  bar_sync(0, quantize_threads);
  const u32 largest = redux_sync_max_u32(ld_shared_u32(words + 4 * (laneid() % quantize_warps)), 0xffffffff);
  bar_sync(0, quantize_threads);  // all have read: the words may be written again
  return largest;
}

/// Blocks of 128x128.
template <class Config>
FP8TWIN_DEVICE void quantize_tiles(Config config, const QuantizeArguments& q) {
  constexpr u32 rows_of_a_warp = 128 / quantize_warps;
  const u32 expert = ctaid_x() / q.row_blocks, first_row = 128 * (ctaid_x() % q.row_blocks);
  const u32 warp = tid_x() / 32;
  for (u32 block = ctaid_y(); block < q.column_blocks; block += nctaid_y()) {
    const u32 column = 128 * block + 4 * laneid(), row = first_row + warp;
    const u64 at = (static_cast<u64>(expert) * q.rows + row) * q.pitch + column;
    const u64 step = quantize_warps * q.pitch;
    const bool whole = q.vectors && 128 * (block + 1) <= q.columns && first_row + 128 <= q.rows;
    const u32 inside = columns_at(q, column);
    const auto count = [&](u32 i) { return row + quantize_warps * i < q.rows ? inside : 0; };
    Quad quads[rows_of_a_warp];
    load_quads(config, q, quads, at, step, whole, count);

    u32 largest = 0;
    FP8TWIN_UNROLL
    for (u32 i = 0; i < rows_of_a_warp; ++i) {
      const u32 of_quad = largest_of(config, quads[i]);
      largest = of_quad > largest ? of_quad : largest;
    }
    const BlockFactor by = block_factor(config, largest_of_block(largest));
    FP8TWIN_UNROLL
    for (u32 i = 0; i < rows_of_a_warp; ++i) {
      const u32 codes = codes_of(config, quads[i], by.factor);
      if (q.vectors && count(i) == 4) {
        st_global_u32(static_cast<u32*>(static_cast<void*>(q.codes + at + i * step)), codes);
      } else {
        store_codes(q.codes + at + i * step, codes, count(i));
      }
    }
    if (tid_x() == 0) st_global_f32(q.scales + ctaid_x() * q.scale_pitch + block, by.scale);
  }
}

template <class Config>
FP8TWIN_DEVICE void quantize_blocks(Config config, const QuantizeArguments& q) {
  if (config.block_rows == 1) {
    quantize_rows(config, q);
  } else {
    quantize_tiles(config, q);
  }
}

}  // namespace fp8twin
