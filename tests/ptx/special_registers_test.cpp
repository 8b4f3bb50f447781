// Special registers and the shared window of each block of a cluster.
#include "emulator/ptx/special_registers.hpp"

#include <array>

#include "emulator/ptx/shared_memory.hpp"
#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("a thread's place in its warp, block, cluster and grid") {
  std::vector<std::array<u32, 8>> seen;
  expect_clean(
      {.threads = 33, .grid = {4, 3}, .cluster = {2, 3}},
      [&] {
        if (tid_x() == 32 && ctaid_x() == 3 && ctaid_y() == 2)
          seen.push_back({tid_x(), laneid(), ctaid_x(), ctaid_y(), nctaid_x(), nctaid_y(), cluster_ctarank(),
                          cluster_nctarank()});
      },
      [&] {
        REQUIRE(seen.size() == 1);
        CHECK(seen[0] == std::array<u32, 8>{32, 0, 3, 2, 4, 3, 5, 6});
        seen.clear();
      });
}

TEST_CASE("a launch without clusters is one of clusters of one block") {
  u32 ranks = 0, blocks = 0;
  run({.threads = 1, .grid = {5, 1}}, [&] {
    ranks += cluster_ctarank();
    blocks += cluster_nctarank();
  });
  CHECK(ranks == 0);
  CHECK(blocks == 5);
}

TEST_CASE("dynamic shared memory begins at 0x400 of each block's window; mapa changes the window alone") {
  std::array<u32, 4> begin{}, mapped{};
  expect_clean(
      {.threads = 1, .grid = {4, 1}, .cluster = {4, 1}},
      [&] {
        const u32 rank = cluster_ctarank();
        begin[rank] = dynamic_shared();
        mapped[rank] = mapa_shared_cluster_u32(dynamic_shared() + 24, (rank + 1) % 4);
      },
      [&] {
        CHECK(begin == std::array<u32, 4>{0x400, 0x01000400, 0x02000400, 0x03000400});
        CHECK(mapped == std::array<u32, 4>{0x01000418, 0x02000418, 0x03000418, 0x418});
      });
}
