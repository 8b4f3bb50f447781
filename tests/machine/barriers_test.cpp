// Named barriers of a block and the barrier of a cluster. mbarriers: mbarrier_test.cpp.
#include <algorithm>

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("bar.sync over many rounds: nobody is a round ahead") {
  std::vector<u32> round(128);
  u32 apart = 0;
  expect_clean(
      {.threads = 128},
      [&] {
        round[tid_x()] = 0;
        bar_sync(0, 128);
        for (u32 i = 1; i <= 20; ++i) {
          round[tid_x()] = i;
          bar_sync(i % 16, 128);
          const auto [low, high] = std::minmax_element(round.begin(), round.end());
          apart = std::max(apart, *high - *low);
          bar_sync(i % 16, 128);
        }
      },
      [&] { CHECK(apart == 0); });
}

TEST_CASE("two halves of a block meet at barriers of their own") {
  expect_clean({.threads = 128}, [] {
    const u32 half = tid_x() / 64, at = dynamic_shared() + 4 * tid_x();
    for (u32 i = 0; i < 5 + 10 * half; ++i) {
      st_shared_u32(at, i);
      bar_sync(1 + half, 64);
      ld_shared_u32(dynamic_shared() + 4 * (tid_x() ^ 63));
      bar_sync(1 + half, 64);
    }
  });
}

TEST_CASE(
    "bar.arrive counts and goes on: what it stored before, the waiters see; it sees nothing of theirs") {
  const auto kernel = [](bool producer_reads) {
    const u32 at = dynamic_shared();
    if (tid_x() < 32) {
      st_shared_u32(at + 4 * tid_x(), tid_x());
      bar_arrive(3, 64);
      if (producer_reads) ld_shared_u32(at + 4 * (tid_x() + 32));
    } else {
      st_shared_u32(at + 4 * tid_x(), tid_x());
      bar_sync(3, 64);
      ld_shared_u32(at + 4 * (tid_x() - 32));
    }
  };
  expect_clean({.threads = 64}, [&] { kernel(false); });
  for (const Turn turn : every_turn()) {
    const auto fault = fault_of(
        {.threads = 64}, [&] { kernel(true); }, turn);
    REQUIRE(fault);  // before the consumer's store there is nothing to read, after it a race
    CHECK((fault->kind == FaultKind::race || fault->kind == FaultKind::uninitialised));
  }
}

TEST_CASE("counts that disagree, identifiers that are none, counts that are none") {
  expect_fault({.threads = 64}, FaultKind::disagreement, "said", [] { bar_sync(1, tid_x() < 32 ? 64 : 32); });
  expect_fault({}, FaultKind::barrier_use, "a block has barriers 0 to 15", [] { bar_sync(16, 32); });
  expect_fault({}, FaultKind::barrier_use, "a multiple of 32", [] { bar_sync(0, 16); });
  expect_fault({}, FaultKind::barrier_use, "a multiple of 32", [] { bar_arrive(0, 0); });
  expect_fault({}, FaultKind::barrier_use, "at most the block's 32", [] { bar_sync(0, 64); });
}

TEST_CASE("the cluster barrier holds every thread of every block, round after round") {
  std::vector<u32> round(4 * 64);
  u32 apart = 0;
  expect_clean(
      {.threads = 64, .grid = {4, 1}, .cluster = {4, 1}},
      [&] {
        const u32 me = 64 * cluster_ctarank() + tid_x();
        for (u32 i = 1; i <= 6; ++i) {
          round[me] = i;
          barrier_cluster_arrive();
          barrier_cluster_wait();
          const auto [low, high] = std::minmax_element(round.begin(), round.end());
          apart = std::max(apart, *high - *low);
          barrier_cluster_arrive();
          barrier_cluster_wait();
        }
        round[me] = 1;
      },
      [&] { CHECK(apart == 0); });
}

TEST_CASE("the cluster barrier orders memory") {
  expect_clean({.threads = 64}, [] {
    st_shared_u32(dynamic_shared() + 4 * tid_x(), 1);
    barrier_cluster_arrive();
    barrier_cluster_wait();
    ld_shared_u32(dynamic_shared() + 4 * (63 - tid_x()));
  });
}

TEST_CASE("a slow waiter learns what was before the barrier, not what others did since") {
  // Thread 0 comes first to arrive and last to wait: elect.sync holds it back and orders nothing.
  const auto kernel = [] {
    const u32 at = dynamic_shared();
    if (tid_x() == 0) st_shared_u32(at, 1);
    bar_sync(0, 32);
    barrier_cluster_arrive();
    if (tid_x() != 0) {
      barrier_cluster_wait();
      if (tid_x() == 31) st_shared_u32(at, 2);
      barrier_cluster_arrive();
      elect_sync(0xffffffffu);
      barrier_cluster_wait();
    } else {
      elect_sync(0xffffffffu);
      barrier_cluster_wait();
      ld_shared_u32(at);
      barrier_cluster_arrive();
      barrier_cluster_wait();
    }
  };
  // elect.sync from two lines is refused, so both branches share one.
  const auto same_line = [](bool fixed) {
    const u32 at = dynamic_shared();
    const bool slow = tid_x() == 0;
    if (slow) st_shared_u32(at, 1);
    bar_sync(0, 32);
    barrier_cluster_arrive();
    if (!slow) {
      barrier_cluster_wait();
      if (tid_x() == 31) st_shared_u32(at, 2);
      if (!fixed) barrier_cluster_arrive();
    }
    elect_sync(0xffffffffu);
    if (slow) barrier_cluster_wait();
    if (fixed) bar_sync(1, 32);
    if (slow) ld_shared_u32(at);
    if (slow || fixed) barrier_cluster_arrive();
    barrier_cluster_wait();
  };
  CHECK(fault_of({}, kernel)->kind == FaultKind::disagreement);
  expect_fault({}, FaultKind::race, "the write by st.shared", [&] { same_line(false); });
  expect_clean({}, [&] { same_line(true); });
}

TEST_CASE("the cluster barrier out of turn") {
  expect_fault({}, FaultKind::barrier_use, "wait without an arrive", [] { barrier_cluster_wait(); });
  expect_fault({}, FaultKind::barrier_use, "arrive twice without a wait", [] {
    barrier_cluster_arrive();
    barrier_cluster_arrive();
  });
  expect_fault({}, FaultKind::barrier_use, "wait without an arrive", [] {
    barrier_cluster_arrive();
    barrier_cluster_wait();
    barrier_cluster_wait();
  });
}
