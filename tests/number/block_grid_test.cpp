#include "emulator/number/block_grid.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("448 columns in blocks of 128: columns 384 to 447 are block 3") {
  const BlockGrid grid(1, 448, 448, block_128x128);
  CHECK(grid.column_blocks() == 4);
  CHECK(grid.row_blocks() == 4);
  for (std::int64_t at = 384; at < 448; ++at) {
    CHECK(grid.scale_index(0, 0, at) == 3);
    CHECK(grid.scale_index(0, at, 0) == 3 * 4);
  }
  CHECK(grid.scale_index(0, 0, 383) == 2);
  CHECK(grid.scale_index(0, 383, 0) == 2 * 4);
}

TEST_CASE("experts of 64 rows do not share a block of 128 rows") {
  const BlockGrid grid(2, 64, 256, block_128x128);
  CHECK(grid.scales() == 2 * 1 * 2);
  CHECK(grid.scale_index(0, 63, 0) == 0);
  CHECK(grid.scale_index(1, 0, 0) == 2);
  CHECK(grid.scale_index(1, 63, 255) == 3);
}

TEST_CASE("1x128: a scale for each row and 128 columns, the last block partial") {
  const BlockGrid grid(3, 5, 300, block_1x128);
  CHECK(grid.scales() == 3 * 5 * 3);
  CHECK(grid.scale_index(2, 4, 299) == 3 * 5 * 3 - 1);
  CHECK(grid.scale_index(1, 2, 128) == (1 * 5 + 2) * 3 + 1);
}

TEST_CASE("groups along K start their blocks anew") {
  const std::int32_t sizes[] = {100, 0, 160};
  const BlockGrid grid(1, 1, 260, block_1x128, sizes);
  REQUIRE(grid.column_blocks() == 3);
  CHECK(grid.column_start(0) == 0);
  CHECK(grid.column_start(1) == 100);
  CHECK(grid.column_start(2) == 228);
  CHECK(grid.column_start(3) == 260);
  CHECK(grid.scale_index(0, 0, 99) == 0);
  CHECK(grid.scale_index(0, 0, 100) == 1);
  CHECK(grid.scale_index(0, 0, 228) == 2);
  CHECK(grid.scale_index(0, 0, 259) == 2);
}

TEST_CASE("groups that do not make up the columns are refused") {
  const auto grid = [](std::vector<std::int32_t> sizes) { return BlockGrid(1, 2, 128, block_1x128, sizes); };
  CHECK(grid({128, 0}).column_blocks() == 1);
  CHECK(grid({0, 128, 0}).scale_index(0, 1, 127) == 1);
  CHECK_THROWS_WITH(grid({1'000'000}),
                    "k_sizes: they add up to 1000000; needed is the number of columns, 128");
  CHECK_THROWS_AS(grid({127}), Error);
  CHECK_THROWS_AS(grid({0}), Error);
  CHECK_THROWS_WITH(grid({256, -128}), "k_sizes: a group has -128 columns; 0 or more are needed");
}

TEST_CASE("a header's claim costs no memory: 2^40 columns and no row") {
  const BlockGrid grid(1, 0, std::int64_t{1} << 40, block_1x128);
  CHECK(grid.scales() == 0);
  CHECK(grid.column_blocks() == std::int64_t{1} << 33);
  CHECK(grid.column_start(std::int64_t{1} << 32) == std::int64_t{1} << 39);
}

TEST_CASE("every element has a scale in range and every scale an element; empty arrays have none") {
  for (const BlockShape shape : {block_1x128, block_128x128, BlockShape{7, 5}}) {
    const BlockGrid grid(2, 130, 261, shape);
    std::vector<int> used(static_cast<std::size_t>(grid.scales()));
    for (std::int64_t expert = 0; expert < 2; ++expert) {
      for (std::int64_t row = 0; row < 130; ++row) {
        for (std::int64_t column = 0; column < 261; ++column) {
          used.at(static_cast<std::size_t>(grid.scale_index(expert, row, column)))++;
        }
      }
    }
    CHECK(*std::min_element(used.begin(), used.end()) > 0);
    CHECK(*std::max_element(used.begin(), used.end()) <= shape.rows * shape.columns);
  }
  CHECK(BlockGrid(1, 0, 300, block_128x128).scales() == 0);
  CHECK(BlockGrid(1, 300, 0, block_128x128).scales() == 0);
  CHECK(BlockGrid(0, 300, 300, block_128x128).elements() == 0);
}
