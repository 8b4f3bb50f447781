// RasterWalk, which the persistent kernels of steps 8 and 9 use, against Raster::place: the same order in strides.
#include "gpu/kernels/raster.hpp"

#include <algorithm>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

/// Places that a walk from `start` in steps of `stride` meets otherwise than Raster::place says, or a wrong end.
u32 wrong_places(u32 tiles_m, u32 tiles_n, u32 shift, u32 start, u32 stride) {
  const Raster raster{tiles_m, tiles_n, 1u << shift};
  RasterWalk walk{tiles_m, tiles_n, shift};
  walk.advance(start);
  u32 wrong = 0;
  for (u32 index = start; index < raster.tiles(); index += stride) {
    if (walk.done()) return wrong + 1;
    wrong += walk.place() != raster.place(index);
    walk.advance(stride);
  }
  return wrong + !walk.done();
}

}  // namespace

TEST_CASE("a walk is the raster in strides: every extent, group, stride and beginning of a small matrix") {
  u32 wrong = 0, walks = 0;
  for (u32 tiles_m = 1; tiles_m <= 9; ++tiles_m) {
    for (u32 tiles_n = 1; tiles_n <= 5; ++tiles_n) {
      const u32 tiles = tiles_m * tiles_n;
      for (u32 shift = 0; shift <= 4; ++shift) {
        for (u32 stride = 1; stride <= tiles + 2; ++stride) {
          for (u32 start = 0; start < std::min(stride, tiles); ++start, ++walks) {
            wrong += wrong_places(tiles_m, tiles_n, shift, start, stride);
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
    for (u32 shift = 0; shift <= 6; ++shift) {
      for (const auto& [tiles_m, tiles_n] : {std::pair<u32, u32>{1, 1024}, {1024, 1}, {67, 113}, {64, 56}}) {
        INFO(tiles_m << " x " << tiles_n << " tiles, groups of 2^" << shift << ", " << multiprocessors);
        u32 wrong = 0;
        for (u32 block = 0; block < multiprocessors; ++block) {
          wrong += wrong_places(tiles_m, tiles_n, shift, block, multiprocessors);
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
