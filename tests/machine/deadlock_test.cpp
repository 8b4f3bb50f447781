// A deadlock is told with everyone who waits and for what; setmaxnreg: tests/ptx/setmaxnreg_test.cpp.
#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

template <class Kernel>
std::string deadlock(const Setup& setup, const Kernel& kernel) {
  std::string text;
  for (const Turn turn : every_turn()) {
    INFO(turn_text(turn));
    const auto fault = fault_of(setup, kernel, turn);
    REQUIRE(fault);
    INFO(fault->what());
    CHECK(fault->kind == FaultKind::deadlock);
    CHECK(fault->thread >= 0);
    CHECK_THAT(fault->what(), contains_text("deadlock: no thread can go on and nothing is in flight:"));
    if (turn.schedule == Schedule::latest) text = fault->what();
  }
  return text;
}

}  // namespace

TEST_CASE("a named barrier that half of the block does not come to") {
  const std::string text = deadlock({.threads = 64}, [] {
    if (tid_x() < 32) bar_sync(2, 64);
  });
  CHECK_THAT(text, contains_text("thread 0 of block (0,0) (and 31 like it) waits at"));
  CHECK_THAT(text, contains_text("deadlock_test.cpp:"));
  CHECK_THAT(text, contains_text("bar.sync for barrier 2 (32 of 64 threads have arrived)"));
}

TEST_CASE("two threads, each with the other's barrier still to come") {
  const std::string text = deadlock({.threads = 2}, [] {
    const u32 a = dynamic_shared(), b = a + 8;
    if (tid_x() == 0) {
      mbarrier_init_b64(a, 1);
      mbarrier_init_b64(b, 1);
    }
    elect_sync(0xffffffffu);
    bar_warp_sync(0xffffffffu);
    wait_for(tid_x() == 0 ? a : b, 0);
    mbarrier_arrive_b64(tid_x() == 0 ? b : a);
  });
  CHECK_THAT(text, contains_text("thread 0 of block (0,0) waits"));
  CHECK_THAT(text, contains_text("thread 1 of block (0,0) waits"));
  CHECK_THAT(text, contains_text("the mbarrier at shared 0x400, parity 0 (phase 0: 1 of 1 arrivals missing"));
  CHECK_THAT(text, contains_text("the mbarrier at shared 0x408, parity 0"));
}

TEST_CASE("a block of the cluster that stays away") {
  const std::string text = deadlock({.grid = {2, 1}, .cluster = {2, 1}}, [] {
    if (cluster_ctarank() == 1) return;
    barrier_cluster_arrive();
    barrier_cluster_wait();
  });
  CHECK_THAT(text, contains_text("barrier.cluster.wait for the other blocks of the cluster"));
}

TEST_CASE("a lane that leaves its warp alone") {
  const std::string text = deadlock({}, [] {
    if (tid_x() != 9) elect_sync(0xffffffffu);
  });
  CHECK_THAT(text, contains_text("elect.sync for the other lanes of warp 0"));
}

TEST_CASE("a warpgroup of which one warp does not issue the wgmma") {
  const std::string text = deadlock({.threads = 128, .shared_bytes = 8192}, [] {
    Accumulator<8> d;
    if (tid_x() < 96) {
      wgmma_fence(d);
      wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, 0, 0, 0);
      wgmma_commit_group();
      wgmma_wait_group<0>(d);
    }
  });
  CHECK_THAT(text, contains_text("(and 95 like it) waits"));
  CHECK_THAT(text, contains_text("wgmma instruction 2 of its warpgroup, which all 128 threads must"));
}
