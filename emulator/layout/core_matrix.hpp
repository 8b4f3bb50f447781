// Core matrices: how wgmma wants an operand that has no swizzle.
//
//   one core matrix, 8 rows of 16 bytes,        a tile of rows x K bytes: core matrices at two distances
//   128 contiguous bytes
//        k = 0 ... 15                                    k 0..15      k 16..31
//     row 0  +--------+   0                  rows 0..7  +---------+  +---------+
//     row 1  |        |  16                             | matrix  |->| matrix  |->     leading byte offset
//      ...   |        |                                 +----|----+  +---------+
//     row 7  +--------+ 112                             +----v----+
//                                            rows 8..15 | matrix  |                    stride byte offset
//                                                       +---------+
//
// Eight rows of one matrix are all 32 banks once: reading it has no bank conflict, which is what a swizzle buys for rows
// that lie whole. Source: PTX ISA, "Strides", "Shared Memory Matrix Layout"; recorded: tests/golden/layouts.json.
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin {

inline constexpr u32 core_matrix_rows = 8;
inline constexpr u32 core_matrix_row_bytes = 16;
inline constexpr u32 core_matrix_bytes = core_matrix_rows * core_matrix_row_bytes;

/// From the tile's start to byte k of row `row`: `leading` bytes from a core matrix to the next along K, `stride` bytes
/// to the next eight rows.
constexpr u32 core_matrix_offset(u32 leading, u32 stride, u32 row, u32 k) {
  return row / core_matrix_rows * stride + k / core_matrix_row_bytes * leading +
         row % core_matrix_rows * core_matrix_row_bytes + k % core_matrix_row_bytes;
}

}  // namespace fp8twin
