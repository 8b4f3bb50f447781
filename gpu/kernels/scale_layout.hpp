// A's scales as TMA wants them: transposed, each K block's in a row whose length is a multiple of 16 bytes. The bits are
// those of arranged_scales() of gpu/launch/gemm_data.cpp.
//
//   from [rows, k_blocks]                     to [k_blocks, stride]      stride = rows rounded up to 4
//   s(0,0) s(0,1) s(0,2) ...                  s(0,0) s(1,0) s(2,0) ... 0
//   s(1,0) s(1,1) s(1,2) ...                  s(0,1) s(1,1) s(2,1) ... 0
//
// A thread block moves squares of 32 x 32 through shared memory: a warp reads 32 neighbours of a row and later stores 32
// neighbours of a column, so that both sides move whole lines. In shared memory a row has 33 words: a column then meets
// each of the 32 banks once.
//
//   word (r, c) at 33 r + c:    bank (r + c) % 32 along a row, and along a column
#pragma once

#include "gpu/kernels/machine.hpp"

namespace fp8twin {

/// Nothing to choose.
struct ScaleLayoutConfig {};

struct ScaleLayoutArguments {
  const float* from;  // [rows, k_blocks]
  float* to;          // [k_blocks, stride]; what lies past rows is set to +0
  u64 stride;
  u32 rows, k_blocks;  // below 2^31
};

inline constexpr u32 scale_layout_threads = 256, scale_square = 32;
inline constexpr u32 scale_layout_shared_bytes = 4 * scale_square * (scale_square + 1);

constexpr u32 scale_word(u32 row, u32 column) { return 4 * ((scale_square + 1) * row + column); }

template <class Config>
FP8TWIN_DEVICE void transpose_scales(Config, const ScaleLayoutArguments& s) {
  constexpr u32 warps = scale_layout_threads / 32;
  const u32 shared = dynamic_shared(), warp = tid_x() / 32, lane = laneid();
  const u32 row0 = ctaid_x() * scale_square;
  for (u32 block0 = ctaid_y() * scale_square; block0 < s.k_blocks; block0 += nctaid_y() * scale_square) {
    FP8TWIN_UNROLL
    for (u32 i = warp; i < scale_square; i += warps) {
      const bool inside = row0 + i < s.rows && block0 + lane < s.k_blocks;
      const u64 at = static_cast<u64>(row0 + i) * s.k_blocks + block0 + lane;
      st_shared_f32(shared + scale_word(i, lane), inside ? ld_global_nc_f32(s.from + at) : 0.0f);
    }
    bar_sync(0, scale_layout_threads);
    FP8TWIN_UNROLL
    for (u32 i = warp; i < scale_square; i += warps) {
      if (block0 + i >= s.k_blocks) continue;
      const float scale = ld_shared_f32(shared + scale_word(lane, i));
      if (row0 + lane < s.stride) st_global_f32(s.to + (block0 + i) * s.stride + row0 + lane, scale);
    }
    bar_sync(0, scale_layout_threads);  // all have read: the square may be written again
  }
}

}  // namespace fp8twin
