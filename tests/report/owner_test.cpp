// Owners: every element of a tile has one of its own, and the fragment's inverse leads back to it.
#include "emulator/report/owner.hpp"

#include <set>
#include <tuple>

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("owners of a tile are all different and lead back to their element") {
  const TileShape tile{128, 96};
  std::set<std::tuple<int, int, int, int>> seen;
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    for (std::int64_t column = 0; column < tile.columns; ++column) {
      const Owner o = owner(row + 3 * tile.rows, column + 5 * tile.columns, tile);
      REQUIRE((o.tile_row == 3 && o.tile_column == 5));
      REQUIRE((o.warp >= 0 && o.warp < 4 && o.lane >= 0 && o.lane < 32 && o.reg >= 0 && o.reg < 48));
      seen.insert({o.warpgroup, o.warp, o.lane, o.reg});
      const Coordinate back =
          accumulator_coordinate(static_cast<u32>(32 * o.warp + o.lane), static_cast<u32>(o.reg));
      REQUIRE((64 * o.warpgroup + back.row == row && back.column == column));
    }
  }
  CHECK(seen.size() == 128 * 96);
}

TEST_CASE("an element by hand") {
  // Row 77 is row 13 of warpgroup 1 in a tile of 128 rows: warp 0, its lower eight rows, lanes 20 to 23.
  // Column 130 is column 2 of the second tile: the second of those lanes.
  CHECK(owner(77, 130, {128, 128}) ==
        Owner{.tile_row = 0, .tile_column = 1, .warpgroup = 1, .warp = 0, .lane = 21, .reg = 2});
  CHECK(owner(77, 130) ==
        Owner{.tile_row = 1, .tile_column = 1, .warpgroup = 0, .warp = 0, .lane = 21, .reg = 2});
}
