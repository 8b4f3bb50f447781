// mbarrier by the names that kernels use, and test_wait, which asks and goes on. Phases, counts and misuse:
// tests/machine/mbarrier_test.cpp.
#include "emulator/ptx/mbarrier.hpp"

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("each instruction names itself and the kernel's line in what it reports") {
  const auto line_of = [](const char* instruction, const std::function<void()>& kernel) {
    const auto fault = fault_of({.threads = 1}, kernel);
    REQUIRE(fault);
    CHECK_THAT(fault->what(), contains_text(instruction));
    CHECK_THAT(fault->site.text(), contains_text("tests/ptx/mbarrier_test.cpp:"));
    return fault->site.line;
  };
  CHECK(line_of("mbarrier.init", [] { mbarrier_init_b64(dynamic_shared(), 0); }) == __LINE__);
  CHECK(line_of("mbarrier.inval", [] { mbarrier_inval_b64(dynamic_shared()); }) == __LINE__);
  CHECK(line_of("mbarrier.arrive", [] { mbarrier_arrive_b64(dynamic_shared()); }) == __LINE__);
  CHECK(line_of("expect_tx", [] { mbarrier_arrive_expect_tx_b64(dynamic_shared(), 16); }) == __LINE__);
  CHECK(line_of("cluster", [] { mbarrier_arrive_shared_cluster_b64(dynamic_shared()); }) == __LINE__);
  CHECK(line_of("try_wait", [] { mbarrier_try_wait_parity_b64(dynamic_shared(), 0); }) == __LINE__);
  CHECK(line_of("test_wait", [] { mbarrier_test_wait_parity_b64(dynamic_shared(), 0); }) == __LINE__);
}

TEST_CASE("test_wait answers for the phase of the parity, and does not stand still") {
  std::vector<bool> answers;
  expect_clean(
      {.threads = 1},
      [&] {
        const u32 bar = dynamic_shared();
        mbarrier_init_b64(bar, 1);
        answers.push_back(mbarrier_test_wait_parity_b64(bar, 1));
        answers.push_back(mbarrier_test_wait_parity_b64(bar, 0));
        mbarrier_arrive_b64(bar);
        answers.push_back(mbarrier_test_wait_parity_b64(bar, 0));
        answers.push_back(mbarrier_test_wait_parity_b64(bar, 1));
        mbarrier_arrive_expect_tx_b64(bar, 64);  // bytes that never land
        answers.push_back(mbarrier_test_wait_parity_b64(bar, 1));
      },
      [&] {
        CHECK(answers == std::vector<bool>{true, false, true, false, false});
        answers.clear();
      });
  expect_fault({.threads = 1}, FaultKind::barrier_use, "a phase parity of 2", [] {
    mbarrier_init_b64(dynamic_shared(), 1);
    mbarrier_test_wait_parity_b64(dynamic_shared(), 2);
  });
}

TEST_CASE("test_wait that says yes passes on what was stored before the arrivals") {
  u32 read = 0, early = 0;
  expect_clean(
      {.threads = 64},
      [&] {
        const u32 word = dynamic_shared(), bar = word + 64;
        shared_mbarrier(bar, 1, 64);
        if (tid_x() == 0) {
          st_shared_u32(word, 7);
          mbarrier_arrive_b64(bar);
        }
        if (tid_x() == 33) {
          if (!mbarrier_test_wait_parity_b64(bar, 0)) {
            ++early;
            wait_for(bar, 0);
          }
          read += ld_shared_u32(word);
        }
      },
      [&] {
        CHECK(read == 7);
        read = 0;
      });
  CHECK(early > 0);  // by some of the schedules the consumer asks first
}

TEST_CASE("test_wait that says no passes on nothing") {
  for (const Turn turn : every_turn()) {
    INFO(turn_text(turn));
    bool over = false;
    const auto fault = fault_of(
        {.threads = 64},
        [&] {
          const u32 word = dynamic_shared(), bar = word + 64;
          if (tid_x() == 0) st_shared_u32(word, 6);
          shared_mbarrier(bar, 2, 64);
          if (tid_x() == 0) {
            st_shared_u32(word, 7);
            mbarrier_arrive_b64(bar);  // one arrival of two
          }
          if (tid_x() == 33) {
            over = mbarrier_test_wait_parity_b64(bar, 0);
            ld_shared_u32(word);
          }
        },
        turn);
    REQUIRE(fault);  // at the store or at the load, whichever comes second
    CHECK(fault->kind == FaultKind::race);
    CHECK_FALSE(over);
  }
}

TEST_CASE("a loop around test_wait goes round until the phase is over") {
  expect_clean({.threads = 64}, [] {
    const u32 at = dynamic_shared(), bar = at + 128;
    shared_mbarrier(bar, 32, 64);
    if (tid_x() < 32) {
      st_shared_u32(at + 4 * tid_x(), 1);
      mbarrier_arrive_b64(bar);
    } else {
      while (!mbarrier_test_wait_parity_b64(bar, 0)) {
      }
      ld_shared_u32(at + 4 * (63 - tid_x()));
    }
  });
}
