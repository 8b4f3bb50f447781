// Who held this element of d: tile, warpgroup, warp, lane, register.
//
//    d, cut into tiles of rows x columns     one tile: a warpgroup for each 64 rows, each with the
//    +---------+---------+--                 accumulator of one wgmma.m64nNk32, N = columns
//    | (0, 0)  | (0, 1)  |                   +----------------- 64 x N ----------------+
//    +---------+---------+--                 | thread 32 * warp + lane, register:      |
//    | (1, 0)  | (1, 1)  |                   | emulator/layout/fragment.hpp            |
//
// The tile shape never changes a bit of d, so a result file does not say which one made it: the answer
// holds for the shape that is assumed, and reports say which (64 x 128 unless told otherwise).
#pragma once

#include <cstdint>

#include "emulator/layout/fragment.hpp"

namespace fp8twin {

struct TileShape {
  std::int64_t rows = 64, columns = 128;
};

struct Owner {
  std::int64_t tile_row = 0, tile_column = 0;
  int warpgroup = 0, warp = 0, lane = 0, reg = 0;  // warp of the warpgroup, 0 to 3
  friend constexpr bool operator==(const Owner&, const Owner&) = default;
};

constexpr Owner owner(std::int64_t row, std::int64_t column, TileShape tile = {}) {
  const std::int64_t row_in_tile = row % tile.rows;
  const FragmentSlot slot =
      accumulator_slot(static_cast<u32>(row_in_tile % 64), static_cast<u32>(column % tile.columns));
  return {.tile_row = row / tile.rows,
          .tile_column = column / tile.columns,
          .warpgroup = static_cast<int>(row_in_tile / 64),
          .warp = static_cast<int>(slot.thread / 32),
          .lane = static_cast<int>(slot.thread % 32),
          .reg = static_cast<int>(slot.reg)};
}

}  // namespace fp8twin
