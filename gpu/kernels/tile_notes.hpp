// What the producer tells the consumers about each tile: where it lies, and where its scales of B and the next one's are.
//
//   producer                                          consumer warpgroups
//   wait empty[s], for the tile's first stage         wait full[s]
//   note the tile in notes[t % (stages + 2)]          read notes[t % (stages + 2)], whenever they need it,
//   arrive at full[s], with expect_tx                     until the tile's sums are stored
//
// The arrival releases the note with the stage, and needs no barrier of its own. Nor does the note's end: the producer is
// `stages` stages ahead at most, so at most as many tiles, and the consumers store a tile before they hand back a stage of
// the one after it.
//
// A consumer walks over no tiles itself: with groups in memory the walk would live in vector registers, of which sums leave
// none (ptxas spilled 200 bytes of 256 x 128).
#pragma once

#include "gpu/kernels/promotion.hpp"
#include "gpu/kernels/shared_layout.hpp"
#include "gpu/kernels/tile_walk.hpp"

namespace fp8twin {

/// Where a tile's scales of B begin, one for 128 rows: rows of b_scale from `row` on, `rows` of them inside, from K block
/// `k_block` on. None for no tile.
struct ScalePlace {
  u32 row = 0, rows = 0, k_block = 0;
};

template <class Config>
FP8TWIN_DEVICE ScalePlace scale_place(Config config, const GemmArguments& g, const TileWalk<Config>& walk) {
  if (walk.done()) return {};
  const Tile tile = cluster_tile(config, walk.place(), cluster_ctarank());
  const u32 row = (config.swapped ? tile.row0 : tile.column0) / 128, all = (g.n + 127) / 128;
  return {first_b_scale_row(config, g, walk.group) + row, row < all ? all - row : 0,
          group_at(config, g, walk.group).k_block};
}

struct TileNote {
  u32 row0, column0, group, k_blocks;
  ScalePlace scales, next;
};

/// By the producer, before the arrival for the tile's first stage.
FP8TWIN_DEVICE void write_note(u32 at, const TileNote& note) {
  st_shared_v4_u32(at, {note.row0, note.column0, note.group, note.k_blocks});
  st_shared_v4_u32(at + 16, {note.scales.row, note.scales.rows, note.scales.k_block, 0});
  st_shared_v4_u32(at + 32, {note.next.row, note.next.rows, note.next.k_block, 0});
}

/// Where a tile lies. `m` and `n`, which only traces ask for, are made of the rows and columns.
template <class Config>
FP8TWIN_DEVICE Tile noted_tile(Config config, u32 at) {
  const u32 row0 = ld_shared_u32(at), column0 = ld_shared_u32(at + 4);
  return {row0 / config.tile_m, column0 / config.tile_n, row0, column0};
}
FP8TWIN_DEVICE u32 noted_group(u32 at) { return ld_shared_u32(at + 8); }
FP8TWIN_DEVICE u32 noted_k_blocks(u32 at) { return ld_shared_u32(at + 12); }
FP8TWIN_DEVICE ScalePlace noted_scales(u32 at) {
  const U32x4 words = ld_shared_v4_u32(at + 16);
  return {words.x, words.y, words.z};
}
FP8TWIN_DEVICE ScalePlace noted_next_scales(u32 at) { return noted_scales(at + 16); }

}  // namespace fp8twin
