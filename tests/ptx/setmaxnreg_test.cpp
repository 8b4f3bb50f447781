// setmaxnreg: registers that one warpgroup gives back and others take, and who waits for ever.
#include "emulator/ptx/setmaxnreg.hpp"

#include <set>

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("an increase waits until other warps have given back enough") {
  u32 giving = 0, early = 0;
  std::set<u32> grown;
  expect_clean(
      {.threads = 384},
      [&] {
        if (tid_x() == 0) {
          giving = 0;
          grown.clear();
        }
        bar_sync(0, 384);
        if (tid_x() < 128) {
          ++giving;
          setmaxnreg_dec<40>();
        } else {
          setmaxnreg_inc<232>();
          grown.insert(tid_x() / 32);
          // 12 warps begin with 168 of 2048: 32 are free, a warp that shrinks gives 128, one that grows takes 64.
          early += 64 * grown.size() > 32 + 128 * (giving / 32);
        }
      },
      [&] {
        CHECK(early == 0);
        CHECK(grown.size() == 8);
      });
}

TEST_CASE("more than there is: the first warpgroup gets it, the other waits for ever and is told") {
  for (const Turn turn : every_turn()) {
    const auto fault = fault_of(
        {.threads = 384},
        [] {
          if (tid_x() < 128) setmaxnreg_dec<40>();
          if (tid_x() >= 128) setmaxnreg_inc<248>();  // 40 + 248 + 248 > 512
        },
        turn);
    REQUIRE(fault);
    CHECK(fault->kind == FaultKind::deadlock);
    CHECK_THAT(fault->what(),
               contains_text("setmaxnreg.inc for registers: 248 for each thread of its warpgroup"));
  }
}

TEST_CASE("nobody gives back") {
  expect_fault({.threads = 384}, FaultKind::deadlock, "waits at", [] {
    if (tid_x() >= 256) setmaxnreg_inc<232>();
  });
}

TEST_CASE("numbers that are none, steps in the wrong direction, lanes that disagree") {
  const Setup group{.threads = 128};
  expect_fault(group, FaultKind::barrier_use, "setmaxnreg.dec: 20 registers", [] { setmaxnreg_dec<20>(); });
  expect_fault(group, FaultKind::barrier_use, "setmaxnreg.inc: 100 registers", [] { setmaxnreg_inc<100>(); });
  expect_fault(group, FaultKind::barrier_use, "setmaxnreg.inc: 264 registers", [] { setmaxnreg_inc<264>(); });
  expect_fault(group, FaultKind::barrier_use, "to 48 registers, but the warp has 40", [] {
    setmaxnreg_dec<40>();
    setmaxnreg_dec<48>();
  });
  expect_fault(group, FaultKind::barrier_use, "to 40 registers, but the warp has 48", [] {
    setmaxnreg_dec<48>();
    setmaxnreg_inc<40>();
  });
  expect_fault(group, FaultKind::disagreement, "all 32 lanes must execute the same",
               [] { tid_x() % 32 == 4 ? setmaxnreg_dec<40>() : setmaxnreg_dec<48>(); });
}

TEST_CASE("down and up again") {
  expect_clean({.threads = 256}, [] {
    for (u32 i = 0; i < 5; ++i) {
      setmaxnreg_dec<64>();
      setmaxnreg_inc<128>();
    }
  });
}
