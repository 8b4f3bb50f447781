// Where each group's operands begin, how many rows of a slab count, and the walk over the tiles of all groups: against plain
// loops over the groups.
#include "gpu/kernels/groups.hpp"

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gpu/kernels/overlap_store.hpp"
#include "gpu/kernels/tile_walk.hpp"
#include "tests/catch.hpp"
#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;

namespace {

constexpr Grouping all_groupings[] = {Grouping::none, Grouping::batched, Grouping::contiguous,
                                      Grouping::masked, Grouping::along_k};

/// The groups of one launch: what a kernel reads of them, and what it should find.
struct Groups {
  Grouping grouping;
  std::vector<u32> rows;  // of each group that count
  u32 n;
  std::vector<u32> table = {};
  GemmArguments g = {};

  /// `sizes`: rows of each group; along K, K blocks. Batched groups, and those along K, have `room` rows each.
  Groups(Grouping which, const std::vector<u32>& sizes, u32 room, u32 columns)
      : grouping(which), rows(sizes), n(columns) {
    g.m = room;
    g.k = 300;
    u32 first = 0;
    for (const u32 size : sizes) {
      if (grouping == Grouping::contiguous) {
        table.insert(table.end(), {size == 0 ? 0 : first, size == 0 ? 0 : first + size});
        first += (size + 127) / 128 * 128;
      } else if (grouping == Grouping::masked) {
        table.push_back(size);
      } else if (grouping == Grouping::along_k) {
        table.insert(table.end(), {first, size});
        first += size;
      }
    }
    if (grouping == Grouping::none) rows.resize(1);
    if (grouping != Grouping::contiguous && grouping != Grouping::masked) rows.assign(rows.size(), room);
    if (grouping == Grouping::contiguous) g.m = first;
    g.n = n;
    g.groups = static_cast<u32>(rows.size());
  }

  GemmArguments arguments(u32 raster_shift = 0) const {
    GemmArguments all = g;
    all.group_table = table.data();
    all.raster_shift = raster_shift;
    return all;
  }

  /// One thread of each block runs `kernel`, and may read the table.
  void run(u32 blocks, u32 cluster, const std::function<void()>& kernel) const {
    machine::GlobalMemory memory;
    memory.add("group_table", table.data(), 4 * table.size(), machine::GlobalMemory::Access::read);
    test::run({.shared_bytes = 0, .grid = {blocks, 1}, .cluster = {cluster, 1}, .memory = &memory}, [&] {
      if (tid_x() == 0) kernel();
    });
  }
};

/// A cluster's tile, counted in clusters.
struct Place {
  u32 group, m, n;
  friend bool operator==(const Place&, const Place&) = default;
};

/// All of them in their order, by loops: groups, in a group bands of 2^shift rows, in a band columns, in a column rows.
std::vector<Place> places_in_order(const Groups& groups, const MachineConfig& config, u32 shift) {
  std::vector<Place> places;
  for (u32 group = 0; group < groups.rows.size(); ++group) {
    const u32 down = config.swapped ? groups.n : groups.rows[group],
              across = config.swapped ? groups.rows[group] : groups.n;
    const u32 height = config.cluster_m * config.tile_m, width = config.cluster_n * config.tile_n;
    for (u32 band = 0; band * height < down; band += 1u << shift) {
      for (u32 n = 0; n * width < across; ++n) {
        for (u32 m = band; m < band + (1u << shift) && m * height < down; ++m)
          places.push_back({group, m, n});
      }
    }
  }
  return places;
}

/// What the clusters of a grid meet, each on a walk of its own, put together again; empty for a walk that ends too early or too
/// late.
std::vector<Place> places_met(const Groups& groups, const MachineConfig& config, u32 shift, u32 clusters) {
  std::vector<std::vector<Place>> met(clusters);
  const GemmArguments g = groups.arguments(shift);
  const u32 size = cluster_size(config);
  groups.run(clusters * size, size, [&] {
    if (cluster_ctarank() != 0) return;
    for (TileWalk<MachineConfig> walk = first_tile(config, g); !walk.done(); walk.advance(clusters)) {
      met[ctaid_x() / size].push_back({walk.group, walk.place().m, walk.place().n});
    }
  });
  const std::size_t all =
      std::accumulate(met.begin(), met.end(), std::size_t{0},
                      [](std::size_t sum, const std::vector<Place>& places) { return sum + places.size(); });
  std::vector<Place> together;
  for (std::size_t i = 0; i < all; ++i) {
    if (i / clusters >= met[i % clusters].size()) return {};
    together.push_back(met[i % clusters][i / clusters]);
  }
  return together;
}

/// Sizes of groups: edges, and random ones of which many are empty.
std::vector<std::vector<u32>> some_sizes() {
  std::vector<std::vector<u32>> all = {{},           {0},
                                       {1},          {0, 0, 0},
                                       {0, 0, 0, 1}, {200, 0, 56, 192},
                                       {64, 65, 63}, {700, 0, 0, 0, 0, 1, 1, 1, 0, 128}};
  std::mt19937 generator(5);
  const auto below = [&](u32 bound) { return static_cast<u32>(generator() % bound); };
  for (u32 list = 0; list < 12; ++list) {
    std::vector<u32> sizes(1 + below(12));
    for (u32& size : sizes) {
      const u32 what = below(6);
      size = what < 2 ? 0 : below(what < 4 ? 20 : 400);
    }
    all.push_back(sizes);
  }
  return all;
}

}  // namespace

TEST_CASE(
    "the walk meets every group's tiles in order: empty groups, strides past several, swapped, clusters") {
  const MachineConfig configs[] = {
      {.tile_m = 64, .tile_n = 48},
      {.tile_m = 128, .tile_n = 32, .cluster_m = 2},
      {.tile_m = 64, .tile_n = 16, .cluster_n = 2, .swapped = true},
      {.tile_m = 64, .tile_n = 8, .cluster_m = 2, .cluster_n = 2, .swapped = true}};
  u32 wrong = 0, walks = 0;
  for (const std::vector<u32>& sizes : some_sizes()) {
    for (MachineConfig config : configs) {
      for (const Grouping grouping : all_groupings) {
        config.grouping = grouping;
        const Groups groups(grouping, sizes, 130, walks % 50 == 49 ? 0 : 200);
        const u32 shift = walks % 4;
        const std::vector<Place> order = places_in_order(groups, config, shift);
        for (const u32 clusters : {1u, 3u, 11u}) {
          wrong += places_met(groups, config, shift, clusters) != order;
          ++walks;
        }
      }
    }
  }
  CHECK(walks == 20 * 4 * 5 * 3);
  CHECK(wrong == 0);
}

TEST_CASE("a launch without groups meets no tile") {
  MachineConfig config{.tile_m = 64, .tile_n = 8};
  for (const Grouping grouping :
       {Grouping::batched, Grouping::contiguous, Grouping::masked, Grouping::along_k}) {
    config.grouping = grouping;
    CHECK(places_met(Groups(grouping, {}, 64, 64), config, 0, 2).empty());
  }
}

TEST_CASE("a group's operands: rows of A, B and D, of their scales, and K blocks") {
  const std::vector<u32> sizes = {200, 0, 5, 130};
  const u32 room = 201, n = 130, k_blocks = 3;
  for (const Grouping grouping : all_groupings) {
    INFO(static_cast<u32>(grouping));
    const Groups groups(grouping, sizes, room, n);
    const MachineConfig config{.grouping = grouping};
    std::vector<Group> found(groups.g.groups);
    std::vector<u32> scale_rows_of_b(groups.g.groups);
    const GemmArguments g = groups.arguments();
    groups.run(1, 1, [&] {
      for (u32 number = 0; number < g.groups; ++number) {
        found[number] = group_at(config, g, number);
        scale_rows_of_b[number] = first_b_scale_row(config, g, number);
      }
    });
    u32 a_row = 0, k_block_of_all = 0;
    for (u32 number = 0; number < g.groups; ++number) {
      INFO("group " << number);
      const Group& group = found[number];
      const bool rooms = grouping == Grouping::batched || grouping == Grouping::masked;
      const bool along_k = grouping == Grouping::along_k, empty = groups.rows[number] == 0;
      if (grouping != Grouping::contiguous || !empty) {
        CHECK(group.a_row == (rooms ? number * room : grouping == Grouping::contiguous ? a_row : 0));
        CHECK(group.a_scale_row == (rooms ? number * 204 : group.a_row));
        CHECK(group.d_row == (along_k ? number * room : group.a_row));
      }
      CHECK(group.rows == groups.rows[number]);
      CHECK(group.b_row == (along_k ? 0 : number * n));
      CHECK(group.b_scale_row == (along_k ? 0 : number * 132));
      CHECK(group.a_scale_row % 4 == 0);
      CHECK(group.k_block == (along_k ? k_block_of_all : 0));
      CHECK(group.k_blocks == (along_k ? sizes[number] : k_blocks));
      CHECK(scale_rows_of_b[number] == (along_k ? 0 : number * 2));
      a_row += (groups.rows[number] + 127) / 128 * 128;
      k_block_of_all += sizes[number];
    }
  }
}

TEST_CASE("scales of a group take whole fours of places") {
  for (u32 rows = 0; rows < 200; ++rows) {
    CHECK(scale_rows(rows) % 4 == 0);
    CHECK(scale_rows(rows) >= rows);
    CHECK(scale_rows(rows) < rows + 4);
  }
}

TEST_CASE("rows of a slab that count: one after the other") {
  for (const Grouping grouping : all_groupings) {
    for (const bool swapped : {false, true}) {
      const MachineConfig config{.tile_m = 128, .tile_n = 24, .swapped = swapped, .grouping = grouping};
      const u32 height = swapped ? 24 : 64;
      u32 wrong = 0;
      for (u32 rows = 0; rows <= 300; ++rows) {
        Group group = {};
        group.rows = rows;
        for (u32 tile = 0; tile < 6; ++tile) {
          for (u32 slab = 0; slab < 2; ++slab) {
            const Tile at{tile, tile, 128 * tile, 24 * tile};
            const u32 first = swapped ? at.column0 : at.row0 + 64 * slab;
            u32 count = 0;
            for (u32 row = first; row < first + height; ++row) count += row < rows;
            // One product's D ends where its tensor map ends: TMA leaves out what lies past it.
            wrong +=
                rows_that_count(config, group, at, slab) != (grouping == Grouping::none ? height : count);
          }
        }
      }
      CHECK(wrong == 0);
    }
  }
}
