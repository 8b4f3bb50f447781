// Where cuBLASLt looks for a scale, by the formula of its documentation, against where the copy puts it.
#include "gpu/bench/cublaslt_scales.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;
using namespace fp8twin::bench;

namespace {

/// Every scale another value, told from zero.
std::vector<float> numbered(i64 count) {
  std::vector<float> values;
  for (i64 i = 0; i < count; ++i) values.push_back(static_cast<float>(i + 1));
  return values;
}

}  // namespace

TEST_CASE("VEC128: element (row, k) finds its scale at row + padded_m * (k / 128)") {
  struct Extent {
    i64 m, k, padded_m;
  };
  for (const auto& [m, k, padded_m] :
       {Extent{8, 256, 8}, Extent{1, 7168, 4}, Extent{5, 130, 8}, Extent{64, 128, 64}}) {
    const i64 blocks = (k + 127) / 128;
    const std::vector<float> ours = numbered(m * blocks), theirs = vec128_scales(ours, m, blocks, padded_m);
    REQUIRE(theirs.size() == static_cast<std::size_t>(padded_m * blocks));
    std::size_t wrong = 0;
    for (i64 row = 0; row < padded_m; ++row) {
      for (i64 column = 0; column < k; ++column) {
        const i64 block = column / 128;
        const float expected = row < m ? static_cast<float>(row * blocks + block + 1) : 0.0f;
        wrong += theirs[static_cast<std::size_t>(row + padded_m * block)] != expected;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("BLK128x128: element (row, k) finds its scale at k / 128 + L4 * (row / 128), L4 a multiple of 4") {
  struct Extent {
    i64 n, k, l4;
  };
  for (const auto& [n, k, l4] :
       {Extent{128, 512, 4}, Extent{2112, 7168, 56}, Extent{200, 640, 8}, Extent{1, 1, 4}}) {
    const i64 blocks = (k + 127) / 128, rows = (n + 127) / 128;
    const std::vector<float> ours = numbered(rows * blocks), theirs = blk128_scales(ours, rows, blocks);
    REQUIRE(theirs.size() == static_cast<std::size_t>(rows * l4));
    std::size_t wrong = 0;
    double sum = 0;
    for (const float value : theirs) sum += value;
    for (i64 row = 0; row < n; ++row) {
      for (i64 column = 0; column < k; column += 64) {
        const i64 row_block = row / 128, block = column / 128;
        wrong += theirs[static_cast<std::size_t>(block + l4 * row_block)] !=
                 static_cast<float>(row_block * blocks + block + 1);
      }
    }
    CHECK(wrong == 0);
    const double count = static_cast<double>(rows * blocks);
    CHECK(sum == count * (count + 1) / 2);  // what is added is zero
  }
}
