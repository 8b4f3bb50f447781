// The order of tiles: Raster::place, and RasterWalk, which steps 8 and 9 use, in strides, against three loops.
#include "gpu/kernels/raster.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

/// The places in their order, by loops: groups of rows, in a group columns, in a column rows.
std::vector<RasterPlace> places_in_order(u32 tiles_m, u32 tiles_n, u32 group) {
  std::vector<RasterPlace> places;
  for (u32 first = 0; first < tiles_m; first += group) {
    for (u32 n = 0; n < tiles_n; ++n) {
      for (u32 m = first; m < std::min(first + group, tiles_m); ++m) places.push_back({m, n});
    }
  }
  return places;
}

/// Places that a walk from `start` in steps of `stride` meets out of this order, or a wrong end.
u32 wrong_places(const std::vector<RasterPlace>& order, RasterWalk walk, u32 start, u32 stride) {
  walk.advance(start);
  u32 wrong = 0;
  for (std::size_t index = start; index < order.size(); index += stride) {
    if (walk.done()) return wrong + 1;
    wrong += walk.place() != order[index];
    walk.advance(stride);
  }
  return wrong + !walk.done();
}

}  // namespace

TEST_CASE("place and walk keep the order: every extent, group, stride and beginning of a small matrix") {
  u32 wrong = 0, walks = 0;
  for (u32 tiles_m = 1; tiles_m <= 9; ++tiles_m) {
    for (u32 tiles_n = 1; tiles_n <= 5; ++tiles_n) {
      for (const u32 shift : {0u, 1u, 2u, 3u, 4u}) {
        const Raster raster{tiles_m, tiles_n, 1u << shift};
        const std::vector<RasterPlace> order = places_in_order(tiles_m, tiles_n, raster.group);
        REQUIRE(order.size() == raster.tiles());
        for (u32 index = 0; index < raster.tiles(); ++index) wrong += raster.place(index) != order[index];
        for (u32 stride = 1; stride <= raster.tiles() + 2; ++stride) {
          for (u32 start = 0; start < std::min(stride, raster.tiles()); ++start, ++walks) {
            wrong += wrong_places(order, {tiles_m, tiles_n, shift}, start, stride);
          }
        }
      }
    }
  }
  CHECK(walks > 40'000);
  CHECK(wrong == 0);
}

TEST_CASE("a walk over a large matrix, block by block of a card") {
  for (const u32 multiprocessors : {66u, 132u}) {
    for (const u32 shift : {0u, 1u, 2u, 3u, 4u, 5u, 6u}) {
      for (const auto& [tiles_m, tiles_n] : {std::pair<u32, u32>{1, 1024}, {1024, 1}, {67, 113}, {64, 56}}) {
        INFO(tiles_m << " x " << tiles_n << " tiles, groups of 2^" << shift << ", " << multiprocessors);
        const std::vector<RasterPlace> order = places_in_order(tiles_m, tiles_n, 1u << shift);
        u32 wrong = 0;
        for (u32 block = 0; block < multiprocessors; ++block) {
          wrong += wrong_places(order, {tiles_m, tiles_n, shift}, block, multiprocessors);
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("a walk that begins past the last tile is done; there is nothing in an empty matrix") {
  const auto after = [](RasterWalk walk, u32 stride) {
    walk.advance(stride);
    return walk.done();
  };
  CHECK_FALSE(after({3, 4, 3}, 11));
  CHECK(after({3, 4, 3}, 12));
  CHECK(after({3, 4, 1}, 4'000'000'000u));
  CHECK(RasterWalk{0, 4, 3}.done());
  CHECK(after({5, 0, 1}, 0));
}
