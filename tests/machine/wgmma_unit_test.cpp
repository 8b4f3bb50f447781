// What the tensor core's checkers say: of registers, operands, groups, descriptors, and of threads that disagree. Its arithmetic:
// tests/ptx/wgmma_test.cpp.
#include "emulator/machine/wgmma_unit.hpp"

#include "tests/machine/wgmma_operands.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("registers: touched without a fence, written by nobody, written while in flight") {
  const Operands o(7);
  expect_fault(warpgroup, FaultKind::missing_wgmma_fence, "one is needed between", with_operands(o, [] {
                 Accumulator<8> d;
                 mma(d, 0);
               }));
  expect_fault(warpgroup, FaultKind::missing_wgmma_fence, "one is needed between", with_operands(o, [] {
                 Accumulator<8> d;
                 wgmma_fence(d);
                 for (u32 i = 0; i < 4; ++i) d[i] = 0;
                 mma(d, 1);
               }));
  expect_fault(warpgroup, FaultKind::uninitialised, "adds to register 3, which nobody has written",
               with_operands(o, [] {
                 Accumulator<8> d;
                 for (u32 i = 0; i < 3; ++i) d[i] = 0;
                 wgmma_fence(d);
                 mma(d, 1);
               }));
  expect_fault(warpgroup, FaultKind::accumulator_in_flight, "writes accumulator register 2 while",
               with_operands(o, [] {
                 Accumulator<8> d;
                 wgmma_fence(d);
                 mma(d, 0);
                 wgmma_commit_group();
                 d[2] = 0;
               }));
  // Posted but in no group: wait_group<0> does not wait for it.
  expect_fault(warpgroup, FaultKind::accumulator_in_flight, "reads accumulator register 0 while",
               with_operands(o, [] {
                 Accumulator<8> d;
                 wgmma_fence(d);
                 mma(d, 0);
                 wgmma_wait_group<0>(d);
                 st_shared_f32(dynamic_shared(), d[0]);
               }));
}

TEST_CASE("operands: bytes that nobody stored, stored without a fence, overwritten before the wait") {
  const Operands o(8);
  const auto product = [] {
    Accumulator<8> d;
    wgmma_fence(d);
    mma(d, 0);
    wgmma_commit_group();
    wgmma_wait_group<0>(d);
  };
  expect_fault(warpgroup, FaultKind::uninitialised, "wgmma.mma_async reads shared 0x1000, which nobody", [&] {
    store(o.a, 0);
    fence_proxy_async_shared_cta();
    bar_sync(0, 128);
    product();
  });
  expect_fault(warpgroup, FaultKind::missing_proxy_fence, "a fence.proxy.async is needed", [&] {
    store(o.a, 0);
    store(o.b, b_offset);
    bar_sync(0, 128);
    product();
  });
  expect_fault(warpgroup, FaultKind::race, "the write by st.shared", [&] {
    store(o.a, 0);
    store(o.b, b_offset);
    fence_proxy_async_shared_cta();  // and no barrier
    product();
  });
  const auto overwrite = [&](bool wait) {
    return with_operands(o, [=] {
      Accumulator<8> d;
      wgmma_fence(d);
      mma(d, 0);
      wgmma_commit_group();
      if (wait) wgmma_wait_group<0>(d);
      bar_sync(0, 128);
      if (tid_x() == 100) st_shared_u32(dynamic_shared() + b_offset, 0);
      wgmma_wait_group<0>(d);
    });
  };
  expect_clean(warpgroup, overwrite(true));
  expect_fault(warpgroup, FaultKind::race, "the read by wgmma.mma_async", overwrite(false));
}

TEST_CASE("threads that disagree: operands, lines, order, registers") {
  const Operands o(9);
  expect_fault(warpgroup, FaultKind::disagreement, "or other operands: all 128 threads must execute the same",
               with_operands(o, [] {
                 Accumulator<8> d;
                 wgmma_fence(d);
                 wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, descriptor(0),
                                                      descriptor(b_offset + 32 * (tid_x() / 127)), 0);
               }));
  expect_fault(warpgroup, FaultKind::disagreement, "all 128 threads must execute the same",
               with_operands(o, [] {
                 Accumulator<8> d;
                 wgmma_fence(d);
                 mma(d, tid_x() == 77);
               }));
  expect_fault(warpgroup, FaultKind::disagreement, "all 128 threads must execute the same",
               with_operands(o, [] {
                 Accumulator<8> d;
                 wgmma_fence(d);
                 if (tid_x() < 64) {
                   mma(d, 0);
                 } else {
                   mma(d, 0);
                 }
               }));
  expect_fault(warpgroup, FaultKind::disagreement, "all 128 threads must execute the same",
               with_operands(o, [] {
                 Accumulator<8> d;
                 wgmma_fence(d);
                 if (tid_x() < 127) mma(d, 0);
                 if (tid_x() == 127) wgmma_commit_group();
                 bar_sync(1, 128);
                 wgmma_commit_group();
               }));
  expect_fault(warpgroup, FaultKind::disagreement,
               "into other registers than those of the warpgroup's other threads", with_operands(o, [] {
                 Accumulator<8> d, e;
                 wgmma_fence(d);
                 wgmma_fence(e);
                 mma(d, 0);
                 bar_sync(1, 128);
                 mma(tid_x() == 5 ? e : d, 0);
               }));
}

TEST_CASE("descriptors: bits that no field owns, rows that fall together, addresses outside") {
  const Operands o(10);
  const auto product = [&](auto change) {
    return with_operands(o, [=] {
      Accumulator<8> d;
      wgmma_fence(d);
      wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, descriptor(0), change(descriptor(b_offset)), 0);
      wgmma_commit_group();
      wgmma_wait_group<0>(d);
    });
  };
  expect_clean(warpgroup, product([](u64 b) { return b; }));
  expect_fault(warpgroup, FaultKind::descriptor, "sets bits that no field owns",
               product([](u64 b) { return b | 1u << 15; }));
  expect_fault(warpgroup, FaultKind::descriptor, "makes two rows or columns of its matrix read shared",
               with_operands(o, [] {
                 Accumulator<16> d;
                 wgmma_fence(d);
                 MatrixDescriptor b = decode_descriptor(descriptor(b_offset));
                 b.stride_byte_offset = 128;
                 wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, descriptor(0), encode(b), 0);
               }));
  expect_fault(warpgroup, FaultKind::out_of_bounds, "wgmma.mma_async: shared address",
               product([](u64) { return encode({.start_address = 0x3ff00, .stride_byte_offset = 256}); }));
}

TEST_CASE("a block that ends with products that nobody waited for") {
  const Operands o(11);
  const auto fault = fault_of(warpgroup,
                              with_operands(o,
                                            [] {
                                              Accumulator<8> d;
                                              wgmma_fence(d);
                                              mma(d, 0);
                                              wgmma_commit_group();
                                            }),
                              {Schedule::latest, 0});
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::unfinished);
}

TEST_CASE(
    "a wgmma knows what its threads knew when they came, not what they learnt before the last one did") {
  const Operands o(12);
  expect_fault(warpgroup, FaultKind::race, "the write by st.shared", [&] {
    store(o.a, 0);
    fence_proxy_async_shared_cta();
    bar_sync(0, 128);
    Accumulator<8> d;
    wgmma_fence(d);
    const bool last = tid_x() == 127;
    if (last) {  // it stores B, and comes when all others have posted and know of it
      for (u32 chunk = 0; chunk < 16; ++chunk) st_shared_v4_u32(dynamic_shared() + b_offset + 16 * chunk, {});
      fence_proxy_async_shared_cta();
      bar_sync(2, 128);
    }
    mma(d, 0);
    if (!last) bar_sync(2, 128);
    wgmma_commit_group();
    wgmma_wait_group<0>(d);
  });
}
