// wgmma computes what emulator/number says: every N, operands from shared memory and registers, chains, negations, several in flight.
#include "emulator/ptx/wgmma.hpp"

#include "tests/machine/wgmma_operands.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("every N: scale_d 0 over registers that nobody wrote, A from shared memory") {
  const Operands o(1);
  for (u32 n = 8; n <= 256; n += 8) {
    INFO("n " << n);
    Result result;
    const auto fault = fault_of(warpgroup, with_operands(o, [&] {
                                  Accumulator<run_time> d(n);
                                  wgmma_fence(d);
                                  mma(d, 0);
                                  wgmma_commit_group();
                                  wgmma_wait_group<0>(d);
                                  result.take(d, n);
                                }));
    REQUIRE(!fault);
    CHECK(differing(result, n, [&](u32 r, u32 c) { return expected(o, r, c, 0); }) == 0);
  }
}

TEST_CASE("every N: added to what the registers held, A from registers, NaN codes among them") {
  const Operands o(2, true);
  const auto before = [](u32 row, u32 column) {
    return static_cast<float>(static_cast<i32>(row * 7 + column * 3) - 300) * 0.37f;
  };
  for (u32 n = 8; n <= 256; n += 8) {
    INFO("n " << n);
    Result result;
    const auto fault =
        fault_of(warpgroup, with_operands(o, [&] {
                   Accumulator<run_time> d(n);
                   for (u32 r = 0; r < n / 2; ++r) {
                     const Coordinate at = accumulator_coordinate(tid_x(), r);
                     d[r] = before(at.row, at.column);
                   }
                   wgmma_fence(d);
                   wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, fragment(o), descriptor(b_offset), 1);
                   wgmma_commit_group();
                   wgmma_wait_group<0>(d);
                   result.take(d, n);
                 }));
    REQUIRE(!fault);
    CHECK(differing(result, n, [&](u32 r, u32 c) { return expected(o, r, c, before(r, c)); }) == 0);
  }
}

TEST_CASE("negations, of either operand and of both, from shared memory and from registers") {
  const Operands o(3);
  Result first, second, both, registers;
  expect_clean(warpgroup,
               with_operands(o,
                             [&] {
                               const AFragment f = fragment(o);
                               const u64 a = descriptor(0), b = descriptor(b_offset);
                               Accumulator<16> d, e, g, h;
                               wgmma_fence(d);
                               wgmma_fence(e);
                               wgmma_fence(g);
                               wgmma_fence(h);
                               wgmma_mma_async_m64k32_f32_e4m3_e4m3<-1, 1>(d, a, b, 0);
                               wgmma_mma_async_m64k32_f32_e4m3_e4m3<1, -1>(e, a, b, 0);
                               wgmma_mma_async_m64k32_f32_e4m3_e4m3<-1, -1>(g, a, b, 0);
                               wgmma_mma_async_m64k32_f32_e4m3_e4m3<-1, 1>(h, f, b, 0);
                               wgmma_commit_group();
                               wgmma_wait_group<0>(d);
                               wgmma_wait_group<0>(e);
                               wgmma_wait_group<0>(g);
                               wgmma_wait_group<0>(h);
                               first.take(d, 16);
                               second.take(e, 16);
                               both.take(g, 16);
                               registers.take(h, 16);
                             }),
               [&] {
                 const auto with = [&](bool a, bool b) {
                   return [&o, a, b](u32 r, u32 c) { return expected(o, r, c, 0, a, b); };
                 };
                 CHECK(differing(first, 16, with(true, false)) == 0);
                 CHECK(differing(second, 16, with(false, true)) == 0);
                 CHECK(differing(both, 16, with(true, true)) == 0);
                 CHECK(differing(registers, 16, with(true, false)) == 0);
               });
}

TEST_CASE("a chain in flight: each one adds to the one before, whatever the schedule") {
  const Operands o(4);
  Result result;
  expect_clean(warpgroup,
               with_operands(o,
                             [&] {
                               Accumulator<24> d;
                               wgmma_fence(d);
                               for (u32 i = 0; i < 5; ++i) mma(d, i != 0);
                               wgmma_commit_group();
                               wgmma_wait_group<0>(d);
                               result.take(d, 24);
                             }),
               [&] {
                 CHECK(differing(result, 24, [&](u32 r, u32 c) {
                         float sum = 0;
                         for (u32 i = 0; i < 5; ++i) sum = expected(o, r, c, sum);
                         return sum;
                       }) == 0);
               });
}

TEST_CASE("two accumulators in flight: wait_group<1> gives the older one back and not the younger") {
  const Operands o(5);
  Result first, second;
  const auto kernel = [&](bool early) {
    return with_operands(o, [&, early] {
      Accumulator<8> d, e;
      wgmma_fence(d);
      mma(d, 0);
      wgmma_commit_group();
      wgmma_fence(e);
      mma(e, 0);
      mma(e, 1);
      wgmma_commit_group();
      wgmma_wait_group<1>(d);
      first.take(d, 8);
      if (early) {
        wgmma_wait_group<1>(e);
        second.take(e, 8);
      }
      wgmma_wait_group<0>(e);
      second.take(e, 8);
    });
  };
  expect_clean(warpgroup, kernel(false), [&] {
    CHECK(differing(first, 8, [&](u32 r, u32 c) { return expected(o, r, c, 0); }) == 0);
    CHECK(differing(second, 8, [&](u32 r, u32 c) { return expected(o, r, c, expected(o, r, c, 0)); }) == 0);
  });
  expect_fault(warpgroup, FaultKind::accumulator_in_flight, "reads accumulator register 0 while",
               kernel(true));
}

TEST_CASE("wait_group without registers: the operands are free, the accumulator is not") {
  const Operands o(7), other(8);
  Result result;
  const auto kernel = [&](bool wait, bool read_early) {
    return with_operands(o, [&, wait, read_early] {
      Accumulator<8> d, e;
      wgmma_fence(d);
      mma(d, 0);
      wgmma_commit_group();
      if (wait) wgmma_wait_group<0>();
      if (read_early) result.take(d, 8);
      bar_sync(1, 128);
      store_operands(other);
      wgmma_fence(e);
      mma(e, 0);
      wgmma_commit_group();
      wgmma_wait_group<1>(d);  // what ended long ago is given back now
      result.take(d, 8);
      wgmma_wait_group<0>(e);
    });
  };
  expect_clean(warpgroup, kernel(true, false),
               [&] { CHECK(differing(result, 8, [&](u32 r, u32 c) { return expected(o, r, c, 0); }) == 0); });
  expect_fault(warpgroup, FaultKind::accumulator_in_flight, "reads accumulator register 0 while",
               kernel(true, true));
  expect_fault(warpgroup, FaultKind::race, "wgmma", kernel(false, false));
}

TEST_CASE("wait_group<1> without registers frees the operands of the older group, and of no other") {
  const Operands o(9);
  const auto kernel = [&](bool overwrite_younger) {
    return [&, overwrite_younger] {
      store(o.b, b_offset);
      store(o.a, 0);
      store(o.a, b_offset + 4096);
      fence_proxy_async_shared_cta();
      bar_sync(0, 128);
      Accumulator<8> d, e;
      wgmma_fence(d);
      mma(d, 0);
      wgmma_commit_group();
      wgmma_fence(e);
      wgmma_mma_async_m64k32_f32_e4m3_e4m3(e, descriptor(b_offset + 4096), descriptor(b_offset), 0);
      wgmma_commit_group();
      wgmma_wait_group<1>();
      bar_sync(1, 128);
      store(o.a, overwrite_younger ? b_offset + 4096 : 0);
      wgmma_wait_group<0>(d);
      wgmma_wait_group<0>(e);
    };
  };
  expect_clean(warpgroup, kernel(false));
  expect_fault(warpgroup, FaultKind::race, "wgmma", kernel(true));
}

TEST_CASE("two warpgroups compute on their own") {
  const Operands o(6);
  Result results[2];
  expect_clean(
      {.threads = 256, .shared_bytes = shared_bytes},
      [&] {
        const u32 half = tid_x() / 128;
        if (half == 0) {
          store(o.a, 0);
          store(o.b, b_offset);
          fence_proxy_async_shared_cta();
        }
        bar_sync(1, 256);
        Accumulator<8> d;
        wgmma_fence(d);
        for (u32 i = 0; i < 1 + half; ++i) mma(d, i != 0);
        wgmma_commit_group();
        wgmma_wait_group<0>(d);
        for (u32 r = 0; r < 4; ++r) {
          const Coordinate at = accumulator_coordinate(tid_x() % 128, r);
          results[half].d[at.row * most_n + at.column] = d[r];
        }
      },
      [&] {
        CHECK(differing(results[0], 8, [&](u32 r, u32 c) { return expected(o, r, c, 0); }) == 0);
        CHECK(differing(results[1], 8,
                        [&](u32 r, u32 c) { return expected(o, r, c, expected(o, r, c, 0)); }) == 0);
      });
}
