// Checked registers: what nobody wrote is not read, what is not there is not indexed, and a reference is a float to whoever uses it.
#include "emulator/machine/registers.hpp"

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

const Setup one{.threads = 1};

}  // namespace

TEST_CASE("a register reads as what was written to it") {
  float sum = 0;
  expect_clean(
      one,
      [&] {
        Registers<16> r;
        for (u32 i = 0; i < 8; ++i) r[i] = static_cast<float>(i);
        r[0] = r[7];
        r[1] = fma_rn(r[2], r[3], r[4]);
        sum = r[0] + r[1];
      },
      [&] { CHECK(sum == 7 + 10); });
}

TEST_CASE("a register that nobody wrote is not read: by its number, at the line of the reader") {
  const auto fault = fault_of(one, [] {
    Registers<8> r;
    r[0] = r[1] = 1;
    r[2] = 0;
    const float x = r[3];
    st_shared_f32(dynamic_shared(), x);
  });
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::uninitialised);
  CHECK_THAT(fault->what(), contains_text("registers_test.cpp:"));
  CHECK_THAT(fault->what(),
             contains_text("thread 0 of block (0,0): reads register 3, which nobody has written"));
}

TEST_CASE("an index past the end") {
  expect_fault(one, FaultKind::out_of_bounds, "register 4 of an array of 4", [] {
    Registers<8> r;
    r[4] = 0;
  });
}

TEST_CASE("a width told at run time") {
  float last = 0;
  expect_clean(
      one,
      [&] {
        for (u32 n = 8; n <= 256; n += 8) {
          Accumulator<run_time> d(n);
          d[n / 2 - 1] = static_cast<float>(n);
          last = d[n / 2 - 1];
        }
      },
      [&] { CHECK(last == 256); });
  for (const u32 n : {0u, 4u, 12u, 264u}) {
    INFO(n);
    const auto fault = fault_of(one, [n] { Accumulator<run_time> d(n); });
    REQUIRE(fault);
    CHECK_THAT(fault->what(), contains_text("a multiple of 8 from 8 to 256"));
  }
  const auto fault = fault_of(one, [] { Registers<64> r(32); });
  REQUIRE(fault);
  CHECK_THAT(fault->what(), contains_text("registers for N = 32 where the type says 64"));
}

TEST_CASE("without checks a register that nobody wrote is poison: a NaN that no arithmetic here makes") {
  float x = 0;
  run({.threads = 1, .checks = false}, [&] {
    Registers<8> r;
    x = r[0];
  });
  CHECK(f32_bits(x) == 0xffffffffu);
}

TEST_CASE("wgmma is for whole warpgroups") {
  expect_fault({.threads = 96}, FaultKind::disagreement,
               "wgmma needs a whole warpgroup, and the block has 96", [] { wgmma_commit_group(); });
  expect_fault({.threads = 192}, FaultKind::disagreement,
               "wgmma needs a whole warpgroup, and the block has 192", [] {
                 if (tid_x() >= 128) wgmma_commit_group();
               });
}
