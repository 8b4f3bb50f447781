// Fragments as properties over all coordinates: a bijection, its inverse, and who owns what.
#include "emulator/layout/fragment.hpp"

#include <set>
#include <utility>

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("accumulator: slot and coordinate are inverse, and 128 threads cover 64 x N once") {
  for (u32 n = 8; n <= 256; n += 8) {
    std::set<std::pair<u32, u32>> seen;
    for (u32 thread = 0; thread < 128; ++thread) {
      for (u32 reg = 0; reg < n / 2; ++reg) {
        const Coordinate at = accumulator_coordinate(thread, reg);
        REQUIRE(at.row < 64);
        REQUIRE(at.column < n);
        REQUIRE(at.row / 16 == thread / 32);  // a warp owns 16 rows
        REQUIRE(accumulator_slot(at.row, at.column) == FragmentSlot{thread, reg});
        seen.insert({at.row, at.column});
      }
    }
    REQUIRE(seen.size() == 64 * n);
  }
}

TEST_CASE("accumulator: known places") {
  STATIC_REQUIRE(accumulator_coordinate(77, 43) == Coordinate{43, 83});
  STATIC_REQUIRE(accumulator_slot(25, 10) == FragmentSlot{37, 6});
}

TEST_CASE("A in registers: slot and coordinate are inverse, and 128 threads cover 64 x 32 once") {
  std::set<std::pair<u32, u32>> seen;
  for (u32 thread = 0; thread < 128; ++thread) {
    for (u32 reg = 0; reg < 4; ++reg) {
      for (u32 byte = 0; byte < 4; ++byte) {
        const Coordinate at = a_fragment_coordinate(thread, reg, byte);
        REQUIRE(at.row < 64);
        REQUIRE(at.column < 32);
        REQUIRE(a_fragment_slot(at.row, at.column) == AFragmentSlot{thread, reg, byte});
        seen.insert({at.row, at.column});
      }
    }
  }
  REQUIRE(seen.size() == 64 * 32);
}

TEST_CASE("stmatrix: 32 lanes of two halves are 8 x 8 elements once, and .trans is the transposed matrix") {
  std::set<std::pair<u32, u32>> seen;
  for (u32 row = 0; row < 8; ++row) {
    for (u32 column = 0; column < 8; ++column) {
      const MatrixSlot slot = stmatrix_slot(row, column, false);
      REQUIRE(slot.lane < 32);
      REQUIRE(slot.half < 2);
      REQUIRE(stmatrix_slot(column, row, true) == slot);
      seen.insert({slot.lane, slot.half});
    }
  }
  REQUIRE(seen.size() == 64);
}

TEST_CASE("stmatrix: an accumulator's registers, packed in pairs, are 8 x 8 matrices") {
  // Registers r and r+1 of a lane are neighbours in a row: packed to two halves, they are what stmatrix takes. So
  // 8 rows and 8 columns of an accumulator are one matrix.
  for (u32 row = 0; row < 64; ++row) {
    for (u32 column = 0; column < 256; ++column) {
      const FragmentSlot owner = accumulator_slot(row, column);
      const MatrixSlot slot = stmatrix_slot(row % 8, column % 8, false);
      REQUIRE(owner.thread % 32 == slot.lane);
      REQUIRE(owner.reg % 2 == slot.half);
    }
  }
}
