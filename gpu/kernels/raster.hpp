// Rasterisation: in which order the tiles of D are computed.
//
//   rows in groups (of 8 here); inside a group down the rows first, then one column to the right:
//
//            n = 0   1   2
//   m = 0      0   8  16         tiles that run at the same time (132 of them) then cover a block of D that is about
//       1      1   9  17         as high as wide: their rows of A and columns of B are few, and stay in the L2 cache.
//      ...                       Row by row, every wave of tiles would read nearly all of B.
//       7      7  15  23
//       8     24  ...            the last group may have fewer rows
//
// Not modelled by the emulated machine: caches. The order changes no bit.
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin {

/// A tile's (or a cluster's) place, counted in tiles.
struct RasterPlace {
  u32 m, n;
  friend constexpr bool operator==(RasterPlace, RasterPlace) = default;
};

struct Raster {
  u32 tiles_m, tiles_n;
  u32 group = 8;

  constexpr u32 tiles() const { return tiles_m * tiles_n; }
  constexpr RasterPlace place(u32 index) const {
    const u32 first = index / (group * tiles_n) * group;
    const u32 rows = tiles_m - first < group ? tiles_m - first : group;
    const u32 within = index - first * tiles_n;
    return {first + within % rows, within / rows};
  }
};

/// The same order, walked in strides: groups of 2^shift rows, and no division but in a last group of fewer.
struct RasterWalk {
  u32 tiles_m, tiles_n, shift;
  u32 first = 0, within = 0;  // the group's first row, the tile's number in the group

  constexpr bool done() const { return first >= tiles_m; }
  constexpr u32 rows() const {
    const u32 left = tiles_m - first;
    return left < 1u << shift ? left : 1u << shift;
  }
  constexpr void advance(u32 stride) {
    within += stride;
    while (!done() && within >= rows() * tiles_n) {
      within -= rows() * tiles_n;
      first += 1u << shift;
    }
  }
  constexpr RasterPlace place() const {
    if (rows() == 1u << shift) return {first + (within & ((1u << shift) - 1)), within >> shift};
    return {first + within % rows(), within / rows()};
  }
};

/// The tiles of an m x n matrix, `tile_m` x `tile_n` each.
constexpr Raster raster_of(u32 m, u32 n, u32 tile_m, u32 tile_n) {
  return {(m + tile_m - 1) / tile_m, (n + tile_n - 1) / tile_n};
}

}  // namespace fp8twin
