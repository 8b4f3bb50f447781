// Every fast path against the readable dot() over more than 10^9 random outputs: minutes, so labelled slow.
#include <atomic>
#include <memory>
#include <vector>

#include "emulator/model/tile.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/support/parallel.hpp"
#include "tests/catch.hpp"
#include "tests/model/dense.hpp"

using namespace fp8twin;
using fp8twin::test::Dense;

namespace {

constexpr int side = 64;  // of a tile; every worker takes one

struct Count {
  std::atomic<std::int64_t> outputs = 0, different = 0;
};

/// One tile by dot(), then by every path.
void compare(const GemmSlice& slice, bool promote, std::int64_t m0, std::int64_t n0, Count& count) {
  const Tile tile{slice, sm90, promote, m0, n0, side, side};
  const auto plain = make_dot_worker();
  plain->compute(tile);
  for (const Simd simd : simd_here()) {
    const auto fast = make_tile_worker(sm90, simd);
    fast->compute(tile);
    std::int64_t wrong = 0;
    for (int i = 0; i < side; ++i) {
      for (int j = 0; j < side; ++j)
        wrong += f32_bits(plain->values(i, 0)[j]) != f32_bits(fast->values(i, 0)[j]);
    }
    count.different += wrong;
  }
  count.outputs += side * side;
}

}  // namespace

TEST_CASE("paths: 10^9 outputs of one step with C, and of scaled blocks, over the twelve distributions") {
  constexpr std::int64_t m = 2048, n = 2048;
  const std::size_t distributions = 12;
  for (std::size_t d = 0; d < distributions; ++d) {
    const Distribution distribution = all_distributions()[d];
    INFO(distribution_name(distribution));
    Count count;
    for (std::uint64_t seed = 0; seed < 21; ++seed) {
      // One seed in 20 with scales and a tail, longer and so fewer; the others one step each, where every bit shows.
      const bool scaled = seed == 20;
      const std::int64_t k = scaled ? 168 : 32;
      const Dense x(m, scaled ? 256 : n, k, 128, distribution, 1000 + seed);
      const GemmSlice slice = scaled ? x.slice() : x.wgmma_slice();
      const std::int64_t across = x.n / side;
      parallel_for(m / side * across, 0, [&](std::int64_t tile, int) {
        compare(slice, scaled, tile / across * side, tile % across * side, count);
      });
    }
    CHECK(count.different == 0);
    CHECK(count.outputs * static_cast<std::int64_t>(distributions) > 1'000'000'000);
  }
}
