// Who holds what: the register fragments of wgmma.m64nNk32 with 8-bit operands.
//
// A warpgroup is 128 threads, four warps of 32 lanes; warp w owns rows 16w to 16w+15.
//
//   accumulator D, f32, N/2 registers a thread         A in registers, four codes in each of four registers
//
//          columns  0   1 | 2   3 | 4   5 | 6   7             columns   0..3 | 4..7 | 8..11 | 12..15 | 16..19 ...
//   row 0          r0  r1 of lane 0 | lane 1 | 2 | 3   row 0   r0 of lane 0 | lane 1 | lane 2 | lane 3 | r2 of lane 0
//   row 1                   lane 4 | lane 5 | ...      row 1              4 | ...
//   row 8          r2  r3 of lane 0 | lane 1 | ...     row 8   r1 of lane 0 | ...                      | r3 of lane 0
//   the next 8 columns: r4 .. r7
//
// Source: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk32"; recorded proof: tests/golden (every N).
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin {

struct Coordinate {
  u32 row, column;
  friend constexpr bool operator==(Coordinate, Coordinate) = default;
};

/// Where an accumulator element lives: thread of the warpgroup and register of that thread.
struct FragmentSlot {
  u32 thread, reg;
  friend constexpr bool operator==(FragmentSlot, FragmentSlot) = default;
};

/// Register `reg` (0..N/2-1) of thread `thread` (0..127) as row (0..63) and column (0..N-1) of D.
constexpr Coordinate accumulator_coordinate(u32 thread, u32 reg) {
  const u32 warp = thread / 32, lane = thread % 32;
  return {16 * warp + lane / 4 + 8 * ((reg / 2) % 2), 8 * (reg / 4) + 2 * (lane % 4) + reg % 2};
}

/// The inverse of accumulator_coordinate.
constexpr FragmentSlot accumulator_slot(u32 row, u32 column) {
  const u32 warp = row / 16, lane = 4 * (row % 8) + (column % 8) / 2;
  return {32 * warp + lane, 4 * (column / 8) + 2 * ((row / 8) % 2) + column % 2};
}

/// Where a code of A lives when A comes from registers: byte 0 is the least significant of the register.
struct AFragmentSlot {
  u32 thread, reg, byte;
  friend constexpr bool operator==(AFragmentSlot, AFragmentSlot) = default;
};

/// Byte `byte` of register `reg` (0..3) of `thread` as row (0..63) and column (0..31, along K) of A.
constexpr Coordinate a_fragment_coordinate(u32 thread, u32 reg, u32 byte) {
  const u32 warp = thread / 32, lane = thread % 32;
  return {16 * warp + lane / 4 + 8 * (reg % 2), 4 * (lane % 4) + 16 * (reg / 2) + byte};
}

/// The inverse of a_fragment_coordinate.
constexpr AFragmentSlot a_fragment_slot(u32 row, u32 column) {
  const u32 warp = row / 16, lane = 4 * (row % 8) + (column % 16) / 4;
  return {32 * warp + lane, 2 * (column / 16) + (row / 8) % 2, column % 4};
}

/// Where stmatrix takes an element of an 8 x 8 matrix of 16-bit elements from: lane of the warp, and half of
/// that lane's register (0: the low 16 bits). Register i of all lanes is matrix i; its row r goes to the
/// address that lane 8 i + r names.
struct MatrixSlot {
  u32 lane, half;
  friend constexpr bool operator==(MatrixSlot, MatrixSlot) = default;
};

/// With .trans, what else would be row and column change places.
constexpr MatrixSlot stmatrix_slot(u32 row, u32 column, bool trans) {
  return trans ? MatrixSlot{4 * column + row / 2, row % 2} : MatrixSlot{4 * row + column / 2, column % 2};
}

}  // namespace fp8twin
