// Which thread and register holds which element: of D, and of A in registers. Read off one bit at a time.
//
//   D   A[r][0] = bit j of r, B[n][0] = 1: every D[r][n] is bit j of its row; then the other way round for
//       the columns                               elements[thread][register] = row * 256 + column
//   A   byte b of register i of thread t = bit j of (16 t + 4 i + b), B = identity: D[r][k] is bit j of the
//       place that A[r][k] comes from             elements[row][k] = 16 thread + 4 register + byte
#pragma once

#include "gpu/capture/device/layout_operand.hpp"

namespace fp8twin::capture {

inline constexpr u32 row_tile_address = 0x8000, column_tile_address = 0xa000;

/// rows x 32 codes, zero but for column 0: bit `j` of the row number as 0 or 1.0; j = 31: 1.0 everywhere.
FP8TWIN_DEVICE void write_bit_column(u32 address, u32 rows, u32 j) {
  for (u32 row = tid_x(); row < rows; row += 128) {
    const u32 bit = (row | 0x80000000u) >> j & 1;
    st_shared_v4_u32(address + row / 8 * 256 + row % 8 * 16, {bit * code_one, 0, 0, 0});
  }
}

template <u32 N>
FP8TWIN_DEVICE void accumulator_elements(const FragmentArguments& g) {
  clear_shared(row_tile_address, column_tile_address + N * 32);
  bar_sync(0, 128);
  u16* mine = g.elements + tid_x() * (N / 2);
  for (u32 i = 0; i < N / 2; ++i) mine[i] = 0;
  for (u32 j = 0; j < 14; ++j) {  // 0..7: column bits; 8..13: row bits
    write_bit_column(row_tile_address, 64, j < 8 ? 31 : j - 8);
    write_bit_column(column_tile_address, N, j < 8 ? j : 31);
    fence_proxy_async_shared_cta();
    bar_sync(0, 128);
    Accumulator<N> d = {};
    wgmma_fence(d);
    wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, encode(MatrixDescriptor{row_tile_address, 128, 256}),
                                         encode(MatrixDescriptor{column_tile_address, 128, 256}), 0);
    wgmma_commit_group();
    wgmma_wait_group<0>(d);
    FP8TWIN_UNROLL
    for (u32 i = 0; i < N / 2; ++i) mine[i] = static_cast<u16>(mine[i] | (d[i] == 1.0f) << j);
    bar_sync(0, 128);
  }
}

FP8TWIN_DEVICE void a_fragment_places(const FragmentArguments& g) {
  write_identity(32);
  fence_proxy_async_shared_cta();
  bar_sync(0, 128);
  Addresses<32> places;
  for (u32 j = 0; j < 11; ++j) {
    AFragment a;
    FP8TWIN_UNROLL
    for (u32 i = 0; i < 4; ++i) {
      a.reg[i] = 0;
      FP8TWIN_UNROLL
      for (u32 b = 0; b < 4; ++b) a.reg[i] |= ((16 * tid_x() + 4 * i + b) >> j & 1) * code_one << (8 * b);
    }
    Accumulator<32> d = {};
    wgmma_fence(d);
    wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, a, identity_descriptor(), 0);
    wgmma_commit_group();
    wgmma_wait_group<0>(d);
    read_address_bit(places, d, j);
  }
  FP8TWIN_UNROLL
  for (u32 i = 0; i < 16; ++i) {
    const Coordinate at = accumulator_coordinate(tid_x(), i);
    g.elements[at.row * 32 + at.column] = static_cast<u16>(places.bits[i]);
  }
}

}  // namespace fp8twin::capture
