// Core matrices: every byte of a tile has one place, and the two distances are what they say.
#include "emulator/layout/core_matrix.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("core matrices: a bijection for both orders of packing") {
  constexpr u32 rows = 64, width = 128;
  struct Order {
    u32 leading, stride;
  };
  // K first, then rows; rows first, then K.
  for (const Order order : {Order{core_matrix_bytes, core_matrix_bytes * width / 16},
                            Order{core_matrix_bytes * rows / 8, core_matrix_bytes}}) {
    std::vector<int> hits(rows * width);
    for (u32 row = 0; row < rows; ++row) {
      for (u32 k = 0; k < width; ++k) {
        const u32 at = core_matrix_offset(order.leading, order.stride, row, k);
        REQUIRE(at < rows * width);
        ++hits[at];
        // Within its matrix: rows of 16 bytes, one after the other.
        REQUIRE(at % core_matrix_bytes == row % 8 * 16 + k % 16);
        if (k >= 16)
          REQUIRE(at - core_matrix_offset(order.leading, order.stride, row, k - 16) == order.leading);
        if (row >= 8)
          REQUIRE(at - core_matrix_offset(order.leading, order.stride, row - 8, k) == order.stride);
      }
    }
    for (const int hit : hits) REQUIRE(hit == 1);
  }
}
