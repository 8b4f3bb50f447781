// mbarriers: phases and parities, counts and bytes, remote arrivals, and every misuse by its own sentence.
#include "emulator/machine/mbarrier.hpp"

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("a fresh barrier: parity 1 is over, parity 0 is not") {
  machine::MBarrier barrier;
  CHECK(barrier.is_over(1));
  CHECK_FALSE(barrier.is_over(0));
  ++barrier.phase;
  CHECK(barrier.is_over(0));
  CHECK_FALSE(barrier.is_over(1));
  expect_clean({.threads = 1}, [] {
    mbarrier_init_b64(dynamic_shared(), 1);
    wait_for(dynamic_shared(), 1);
  });
  expect_fault({.threads = 1}, FaultKind::deadlock, "parity 0 (phase 0: 1 of 1 arrivals missing, 0 bytes",
               [] {
                 mbarrier_init_b64(dynamic_shared(), 1);
                 wait_for(dynamic_shared(), 0);
               });
}

TEST_CASE("producer and consumer over many phases of one barrier each") {
  u32 sum = 0;
  expect_clean(
      {.threads = 64},
      [&] {
        const u32 at = dynamic_shared(), full = at + 128, empty = at + 136;
        if (tid_x() == 0) {
          mbarrier_init_b64(full, 32);
          mbarrier_init_b64(empty, 32);
          sum = 0;
        }
        bar_sync(0, 64);
        for (u32 i = 0; i < 30; ++i) {
          if (tid_x() < 32) {
            wait_for(empty, (i & 1) ^ 1);
            st_shared_u32(at + 4 * tid_x(), i);
            mbarrier_arrive_b64(full);
          } else {
            wait_for(full, i & 1);
            sum += ld_shared_u32(at + 4 * (tid_x() - 32));
            mbarrier_arrive_b64(empty);
          }
        }
      },
      [&] { CHECK(sum == 32 * (29 * 30 / 2)); });
}

TEST_CASE("a wait for the wrong parity passes at once, and what it guards is a race or not there yet") {
  for (const Turn turn : every_turn()) {
    const auto fault = fault_of(
        {.threads = 64},
        [] {
          const u32 at = dynamic_shared(), full = at + 128;
          shared_mbarrier(full, 32, 64);
          if (tid_x() < 32) {
            st_shared_u32(at + 4 * tid_x(), 1);
            mbarrier_arrive_b64(full);
          } else {
            wait_for(full, 1);
            ld_shared_u32(at + 4 * (tid_x() - 32));
          }
        },
        turn);
    INFO(turn_text(turn));
    // The luck of a consumer who comes when the phase is over: then it waits for the next one for ever.
    REQUIRE(fault);
    CHECK((fault->kind == FaultKind::race || fault->kind == FaultKind::uninitialised ||
           fault->kind == FaultKind::deadlock));
  }
}

TEST_CASE("what was stored after the arrival is not passed on") {
  expect_fault({.threads = 64}, FaultKind::race, "shared 0x404", [] {
    const u32 at = dynamic_shared(), bar = at + 128;
    if (tid_x() == 0) st_shared_u32(at + 4, 1);
    shared_mbarrier(bar, 1, 64);
    if (tid_x() == 0) {
      st_shared_u32(at, 1);
      mbarrier_arrive_b64(bar);
      st_shared_u32(at + 4, 2);
    }
    if (tid_x() == 33) {
      wait_for(bar, 0);
      ld_shared_u32(at);
      ld_shared_u32(at + 4);
    }
  });
}

TEST_CASE("expected bytes that never come are told with the phase") {
  expect_fault({.threads = 1}, FaultKind::deadlock, "0 of 1 arrivals missing, 16 bytes outstanding", [] {
    mbarrier_init_b64(dynamic_shared(), 1);
    mbarrier_arrive_expect_tx_b64(dynamic_shared(), 16);
    wait_for(dynamic_shared(), 0);
  });
}

TEST_CASE("an arrival at a barrier of another block") {
  std::vector<u32> woken(2);
  const auto kernel = [&](bool met) {
    const u32 bar = dynamic_shared();
    if (tid_x() == 0) {
      mbarrier_init_b64(bar, 32);
      fence_mbarrier_init_release_cluster();
    }
    if (met) {
      barrier_cluster_arrive();
      barrier_cluster_wait();
    } else {
      bar_sync(0, 32);
    }
    mbarrier_arrive_shared_cluster_b64(mapa_shared_cluster_u32(bar, cluster_ctarank() ^ 1));
    wait_for(bar, 0);
    woken[cluster_ctarank()] = tid_x() + 1;
    barrier_cluster_arrive();
    barrier_cluster_wait();
  };
  const Setup pair{.grid = {2, 1}, .cluster = {2, 1}};
  expect_clean(
      pair, [&] { kernel(true); }, [&] { CHECK(woken[0] * woken[1] != 0); });
  for (const Turn turn : every_turn()) {
    const auto fault = fault_of(
        pair, [&] { kernel(false); }, turn);
    REQUIRE(fault);  // not initialised yet, or nothing says that it is
    CHECK((fault->kind == FaultKind::barrier_use || fault->kind == FaultKind::race));
  }
}

TEST_CASE("an arrival in a block that has ended") {
  expect_fault({.threads = 1, .grid = {2, 1}, .cluster = {2, 1}}, FaultKind::unfinished, "has ended", [] {
    const u32 bar = dynamic_shared();
    mbarrier_init_b64(bar, 1);
    barrier_cluster_arrive();
    barrier_cluster_wait();
    if (cluster_ctarank() == 1) return;
    // Long enough for block 1 to end under every schedule: both pass the barrier, and this one meets itself.
    for (u32 i = 0; i < 200; ++i) elect_sync(0xffffffffu);
    mbarrier_init_b64(bar + 8, 1);
    for (u32 i = 0; i < 200; ++i) mbarrier_arrive_b64(bar + 8);
    mbarrier_arrive_shared_cluster_b64(mapa_shared_cluster_u32(bar, 1));
  });
}

TEST_CASE("misuse") {
  const Setup one{.threads = 1};
  expect_fault(one, FaultKind::barrier_use, "no mbarrier was initialised at shared 0x408",
               [] { mbarrier_arrive_b64(dynamic_shared() + 8); });
  expect_fault(one, FaultKind::barrier_use, "no mbarrier was initialised",
               [] { wait_for(dynamic_shared(), 0); });
  expect_fault(one, FaultKind::barrier_use, "is live already", [] {
    mbarrier_init_b64(dynamic_shared(), 1);
    mbarrier_init_b64(dynamic_shared(), 1);
  });
  expect_fault(one, FaultKind::barrier_use, "a count of 0", [] { mbarrier_init_b64(dynamic_shared(), 0); });
  expect_fault(one, FaultKind::barrier_use, "a count of 1048576",
               [] { mbarrier_init_b64(dynamic_shared(), 1 << 20); });
  expect_clean(one, [] { mbarrier_init_b64(dynamic_shared(), (1 << 20) - 1); });
  expect_fault(one, FaultKind::misaligned, "no multiple of 8",
               [] { mbarrier_init_b64(dynamic_shared() + 4, 1); });
  expect_fault(one, FaultKind::out_of_bounds, "lies outside", [] { mbarrier_init_b64(0, 1); });
  expect_fault(one, FaultKind::out_of_bounds, "no block of rank 1 in the cluster",
               [] { mbarrier_arrive_shared_cluster_b64(dynamic_shared() | 1u << 24); });
  expect_fault(one, FaultKind::barrier_use, "a phase parity of 2", [] {
    mbarrier_init_b64(dynamic_shared(), 1);
    wait_for(dynamic_shared(), 2);
  });
  expect_fault(one, FaultKind::transaction_count, "it counts up to 2^20-1", [] {
    mbarrier_init_b64(dynamic_shared(), 1);
    mbarrier_arrive_expect_tx_b64(dynamic_shared(), 1 << 20);
  });
  expect_fault({}, FaultKind::race, "a barrier is needed after mbarrier.init", [] {
    if (tid_x() == 0) mbarrier_init_b64(dynamic_shared(), 1);
    elect_sync(0xffffffffu);  // holds everybody up, orders nothing
    if (tid_x() == 7) mbarrier_arrive_b64(dynamic_shared());
  });
}

TEST_CASE("more arrivals than the phase has") {
  expect_fault({.threads = 1}, FaultKind::barrier_use,
               "phase 0 of the mbarrier at shared 0x400 has had its 1", [] {
                 mbarrier_init_b64(dynamic_shared(), 1);
                 mbarrier_arrive_expect_tx_b64(dynamic_shared(), 32);
                 mbarrier_arrive_b64(dynamic_shared());
               });
}

TEST_CASE("inval gives the bytes back; the next barrier there begins at phase 0 again") {
  u32 seen = 0;
  expect_clean(
      {.threads = 1},
      [&] {
        const u32 bar = dynamic_shared();
        mbarrier_init_b64(bar, 1);
        mbarrier_arrive_b64(bar);
        wait_for(bar, 0);
        mbarrier_inval_b64(bar);
        st_shared_u32(bar, 77);
        seen = ld_shared_u32(bar);
        mbarrier_init_b64(bar, 1);
        wait_for(bar, 1);
        mbarrier_arrive_b64(bar);
        wait_for(bar, 0);
      },
      [&] { CHECK(seen == 77); });
  expect_fault({.threads = 1}, FaultKind::barrier_use, "no mbarrier was initialised", [] {
    mbarrier_init_b64(dynamic_shared(), 1);
    mbarrier_inval_b64(dynamic_shared());
    mbarrier_arrive_b64(dynamic_shared());
  });
  // Threads take turns in order: thread 0 waits when thread 32 comes.
  const auto fault = fault_of({.threads = 64},
                              [] {
                                shared_mbarrier(dynamic_shared(), 1, 64);
                                if (tid_x() == 0) wait_for(dynamic_shared(), 0);
                                if (tid_x() == 32) mbarrier_inval_b64(dynamic_shared());
                              },
                              {Schedule::latest, 0});
  REQUIRE(fault);
  CHECK(fault->thread == 32);
  CHECK_THAT(fault->what(), contains_text("mbarrier.inval while somebody waits"));
}
