// bar.sync, bar.arrive, bar.warp.sync and barrier.cluster by the names that kernels use. Their misuse: tests/machine/barriers_test.cpp.
#include "emulator/ptx/bar.hpp"

#include "emulator/ptx/barrier_cluster.hpp"
#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("each barrier names the instruction and the kernel's line in what it reports") {
  const auto line_of = [](const char* instruction, const std::function<void()>& kernel) {
    const auto fault = fault_of({.threads = 64}, kernel);
    REQUIRE(fault);
    CHECK_THAT(fault->what(), contains_text(instruction));
    CHECK_THAT(fault->site.text(), contains_text("tests/ptx/bar_test.cpp:"));
    return fault->site.line;
  };
  CHECK(line_of("bar.sync", [] { bar_sync(16, 64); }) == __LINE__);
  CHECK(line_of("bar.arrive", [] { bar_arrive(16, 64); }) == __LINE__);
  CHECK(line_of("bar.warp.sync", [] { bar_warp_sync(1); }) == __LINE__);
  CHECK(line_of("barrier.cluster.wait", [] { barrier_cluster_wait(); }) == __LINE__);
  const auto twice = [] {
    for (u32 i = 0; i < 2; ++i) barrier_cluster_arrive_relaxed();
  };
  CHECK(line_of("barrier.cluster.arrive", twice) == __LINE__ - 2);
}

TEST_CASE("producer arrives, consumer syncs: a ring of two barriers hands a word from warp to warp") {
  u32 sum = 0;
  expect_clean(
      {.threads = 64},
      [&] {
        if (tid_x() == 0) sum = 0;
        bar_sync(0, 64);
        const u32 at = dynamic_shared() + 4 * laneid();
        for (u32 i = 0; i < 10; ++i) {
          if (tid_x() < 32) {
            if (i != 0) bar_sync(2, 64);  // emptied
            st_shared_u32(at, i);
            bar_arrive(1, 64);  // filled
          } else {
            bar_sync(1, 64);
            sum += ld_shared_u32(at);
            if (i != 9) bar_arrive(2, 64);
          }
        }
      },
      [&] { CHECK(sum == 32 * 45); });
}

TEST_CASE("bar.warp.sync holds the 32 lanes of one warp and no other") {
  std::vector<u32> count(2);
  u32 ahead = 0;
  expect_clean(
      {.threads = 64},
      [&] {
        const u32 warp = tid_x() / 32;
        for (u32 i = 1; i <= 10 * (1 + warp); ++i) {
          ++count[warp];
          bar_warp_sync(0xffffffffu);
          ahead += count[warp] != 32 * i;
          bar_warp_sync(0xffffffffu);
        }
      },
      [&] {
        CHECK(ahead == 0);
        CHECK(count == std::vector<u32>{320, 640});
        count = {0, 0};
      });
}

TEST_CASE("a relaxed arrival passes on what fence.mbarrier_init released, and nothing later") {
  const auto kernel = [](bool relaxed, bool after_fence) {
    const u32 word = dynamic_shared(), bar = word + 64;
    if (tid_x() == 0) {
      if (!after_fence) st_shared_u32(word, 7);
      mbarrier_init_b64(bar, 1);
      fence_mbarrier_init_release_cluster();
      if (after_fence) st_shared_u32(word, 7);
    }
    relaxed ? barrier_cluster_arrive_relaxed() : barrier_cluster_arrive();
    barrier_cluster_wait();
    if (tid_x() == 33) ld_shared_u32(word);
  };
  expect_clean({.threads = 64}, [&] { kernel(false, true); });
  expect_clean({.threads = 64}, [&] { kernel(true, false); });
  expect_fault({.threads = 64}, FaultKind::race, "ld.shared reads", [&] { kernel(true, true); });
}

TEST_CASE("one thread that arrives relaxed keeps its stores to itself; the others' arrive") {
  const auto kernel = [](u32 reads) {
    st_shared_u32(dynamic_shared() + 4 * tid_x(), 1);
    tid_x() == 5 ? barrier_cluster_arrive_relaxed() : barrier_cluster_arrive();
    barrier_cluster_wait();
    if (tid_x() == 40) ld_shared_u32(dynamic_shared() + 4 * reads);
  };
  expect_clean({.threads = 64}, [&] { kernel(6); });
  expect_fault({.threads = 64}, FaultKind::race, "ld.shared reads", [&] { kernel(5); });
}

TEST_CASE(
    "eight blocks meet relaxed, arrive at each other's mbarriers, and leave by them without a second "
    "meeting") {
  std::vector<u32> rounds(8);
  expect_clean(
      {.threads = 32, .grid = {8, 1}, .cluster = {8, 1}},
      [&] {
        const u32 bar = dynamic_shared();
        if (tid_x() == 0) {
          mbarrier_init_b64(bar, 8);
          fence_mbarrier_init_release_cluster();
        }
        barrier_cluster_arrive_relaxed();
        barrier_cluster_wait();
        for (u32 round = 0; round < 5; ++round) {
          if (laneid() < 8) mbarrier_arrive_shared_cluster_b64(mapa_shared_cluster_u32(bar, laneid()));
          wait_for(bar, round % 2);
          bar_warp_sync(0xffffffffu);  // no lane may be a phase behind when the next one begins
          if (tid_x() == 0) ++rounds[cluster_ctarank()];
        }
      },
      [&] {
        CHECK(rounds == std::vector<u32>(8, 5));
        rounds.assign(8, 0);
      });
}
