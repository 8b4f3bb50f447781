// This block's tiles, or this cluster's, from the first group to the last: what the producer and the storing warps of
// steps 8 and 9 each walk on their own. (The consumers are told: tile_notes.hpp.)
//
//   group 0 |  0  1  2  3  4 | group 1 |  5  6 | group 2: none | group 3 |  7  8 ...      tiles, each group in raster order
//   block 1 of 3, every third:  1  4 |         |               |            7
//
//   A stride that passes a group's last tile goes on in the next one by what is left of it.
#pragma once

#include "gpu/kernels/groups.hpp"
#include "gpu/kernels/multicast.hpp"

namespace fp8twin {

template <class Config>
struct TileWalk {
  Config config;
  const GemmArguments& g;
  u32 group = 0;
  RasterWalk raster = {};

  FP8TWIN_DEVICE bool done() const { return raster.done(); }
  FP8TWIN_DEVICE RasterPlace place() const { return raster.place(); }

  FP8TWIN_DEVICE void advance(u32 stride) {
    raster.advance(stride);
    if (config.grouping == Grouping::none) return;
    while (raster.done() && group + 1 < g.groups) {
      ++group;
      enter(raster.within);
    }
  }

  /// Tile number `index` of the group, or past its end by what raster.within then says.
  FP8TWIN_DEVICE void enter(u32 index) {
    const u32 rows = group_at(config, g, group).rows;
    const u32 across = config.swapped ? rows : g.n, down = config.swapped ? g.n : rows;
    const Raster tiles =
        raster_of(down, across, config.cluster_m * config.tile_m, config.cluster_n * config.tile_n);
    raster = {tiles.tiles_n == 0 ? 0 : tiles.tiles_m, tiles.tiles_n, g.raster_shift};
    raster.within = index;
    raster.advance(0);
  }
};

template <class Config>
FP8TWIN_DEVICE TileWalk<Config> first_tile(Config config, const GemmArguments& g) {
  TileWalk<Config> walk = {config, g};
  if (g.groups == 0) return walk;
  walk.enter(ctaid_x() / cluster_size(config));
  walk.advance(0);
  return walk;
}

/// Stages of the ring, of in_flight K blocks each, that all this block's tiles take. Of one product they are counted, not walked
/// over.
template <class Config>
FP8TWIN_DEVICE u32 stages_of_all(Config config, const GemmArguments& g) {
  const u32 each = (k_blocks_of(g) + config.in_flight - 1) / config.in_flight;
  const u32 stride = nctaid_x() / cluster_size(config), first = ctaid_x() / cluster_size(config);
  if (config.grouping == Grouping::none) {
    const u32 tiles = cluster_raster(config, g).tiles();
    return first < tiles ? (tiles - first + stride - 1) / stride * each : 0;
  }
  u32 stages = 0;
  for (TileWalk<Config> walk = first_tile(config, g); !walk.done(); walk.advance(stride)) {
    const bool varies = config.grouping == Grouping::along_k;
    stages +=
        varies ? (group_at(config, g, walk.group).k_blocks + config.in_flight - 1) / config.in_flight : each;
  }
  return stages;
}

}  // namespace fp8twin
