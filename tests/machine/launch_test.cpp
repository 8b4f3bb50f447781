// Launches: grids and clusters, blocks of any size, several OS threads, faults and what comes after them.
#include "emulator/machine/launch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;
using machine::Dim;

TEST_CASE("every thread of every block runs once, and knows its place") {
  struct Who {
    u32 tid, x, y, grid_x, grid_y, rank, ranks, lane;
    bool operator==(const Who&) const = default;
  };
  std::vector<Who> seen, expected;
  run({.threads = 40, .grid = {6, 2}, .cluster = {3, 2}}, [&] {
    seen.push_back({tid_x(), ctaid_x(), ctaid_y(), nctaid_x(), nctaid_y(), cluster_ctarank(),
                    cluster_nctarank(), laneid()});
  });
  for (u32 y = 0; y < 2; ++y) {
    for (u32 x = 0; x < 6; ++x) {
      for (u32 tid = 0; tid < 40; ++tid) expected.push_back({tid, x, y, 6, 2, x % 3 + 3 * y, 6, tid % 32});
    }
  }
  const auto before = [](const Who& a, const Who& b) {
    return std::array{a.y, a.x, a.tid} < std::array{b.y, b.x, b.tid};
  };
  std::sort(seen.begin(), seen.end(), before);
  CHECK(seen == expected);
}

TEST_CASE("the arguments come through, and the window carries the block's rank") {
  std::array<u32, 2> begin{};
  machine::launch({2, 1}, {2, 1}, 1, 64,
                  [&](u32 argument) { begin[cluster_ctarank()] = dynamic_shared() + argument; }, 7u,
                  {.threads = 1});
  CHECK(begin[0] == 0x400 + 7);
  CHECK(begin[1] == 0x01000400 + 7);
}

TEST_CASE("blocks of 1, 33, 100 and 1024 threads") {
  for (const u32 threads : {1u, 33u, 100u, 1024u}) {
    u32 count = 0;
    expect_clean(
        {.threads = threads},
        [&] {
          ++count;
          if (threads == 1024) bar_sync(0, 1024);
          st_shared_u32(dynamic_shared() + 4 * tid_x(), tid_x());
        },
        [&] { CHECK(std::exchange(count, 0u) == threads); });
  }
}

TEST_CASE("what cannot be launched is refused in a sentence") {
  const auto launch = [](Dim grid, Dim cluster, u32 threads, u32 bytes) {
    machine::launch_threads(grid, cluster, threads, bytes, [] {}, {});
  };
  CHECK_THROWS_WITH(launch({1, 1}, {1, 1}, 1025, 0), "launch: 1025 threads a block; 1 to 1024 are needed");
  CHECK_THROWS_WITH(launch({1, 1}, {1, 1}, 0, 0), "launch: 0 threads a block; 1 to 1024 are needed");
  CHECK_THROWS_WITH(launch({1, 1}, {1, 1}, 1, 232449),
                    "launch: 232449 bytes of shared memory; a block has 232448");
  CHECK_THROWS_WITH(launch({17, 1}, {17, 1}, 1, 0), "launch: a cluster of 17x1 blocks; 1 to 16 are needed");
  CHECK_THROWS_WITH(launch({3, 1}, {2, 1}, 1, 0),
                    "launch: a grid of 3x1 blocks is no multiple of a cluster of 2x1");
  launch({1, 1}, {1, 1}, 1, 232448);
}

TEST_CASE("several OS threads leave the same bytes as one, and progress counts every cluster") {
  const auto bytes = [](int threads) {
    std::vector<u32> out(64 * 64);
    i64 last = 0;
    machine::launch_threads({8, 8}, {2, 1}, 64, 4096,
                            [&] {
                              const u32 me = tid_x(), at = dynamic_shared();
                              u32 value = me + 1;
                              for (u32 round = 0; round < 10; ++round) {
                                st_shared_u32(at + 4 * me, value);
                                bar_sync(1, 64);
                                value = 3 * value + ld_shared_u32(at + 4 * ((me + 17) % 64));
                                bar_sync(1, 64);
                              }
                              out[64 * (8 * ctaid_y() + ctaid_x()) + me] = value + ctaid_x();
                            },
                            {.threads = threads, .progress = [&](i64 done, i64 total) {
                               CHECK(total == 32);
                               CHECK(done == last + 1);
                               last = done;
                             }});
    CHECK(last == 32);
    return out;
  };
  const std::vector<u32> one = bytes(1);
  CHECK(bytes(4) == one);
  CHECK(std::count(one.begin(), one.end(), 0u) == 0);
}

TEST_CASE("a fault in one block of many stops the launch, on several OS threads too; the next launch works") {
  for (const int threads : {1, 4}) {
    std::atomic<u32> ended{0};
    const auto kernel = [&](u32 broken) {
      bar_sync(0, 32);
      if (8 * ctaid_y() + ctaid_x() == broken && tid_x() == 3) ld_shared_u32(0);
      bar_sync(0, 32);
      if (tid_x() == 0) ++ended;
    };
    for (u32 again = 0; again < 5; ++again) {
      ended = 0;
      CHECK_THROWS_AS(machine::launch({8, 8}, {1, 1}, 32, 64, kernel, 21u, {.threads = threads}),
                      machine::Fault);
      CHECK(ended < 64);
      ended = 0;
      machine::launch({8, 8}, {1, 1}, 32, 64, kernel, 64u, {.threads = threads});
      CHECK(ended == 64);
    }
  }
}

TEST_CASE("the same seed, the same run: races are told at the same address by the same thread") {
  const auto report = [](u64 seed) {
    const auto fault =
        fault_of({.threads = 96}, [] { st_shared_u32(dynamic_shared() + 4 * (tid_x() % 50), tid_x()); },
                 {Schedule::random, seed});
    REQUIRE(fault);
    return std::string(fault->what());
  };
  for (u64 seed = 0; seed < 10; ++seed) CHECK(report(seed) == report(seed));
}

TEST_CASE("without checks a race is nobody's business") {
  run({.threads = 64, .checks = false}, [] { st_shared_u32(dynamic_shared(), tid_x()); });
}
