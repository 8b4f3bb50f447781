// redux.sync.max.u32: the largest of a warp in every lane; what it is used for, the largest |x| by its bits.
#include "emulator/ptx/redux_sync.hpp"

#include <cmath>

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("every lane gets the largest of its own warp, whoever has it") {
  u32 wrong = 0;
  expect_clean(
      {.threads = 96},
      [&] {
        for (u32 round = 0; round < 32; ++round) {
          const u32 warp = tid_x() / 32, base = 1000 * warp + round;
          const u32 value = laneid() == (round + warp) % 32 ? base + 77 : base + laneid();
          wrong += redux_sync_max_u32(value, 0xffffffffu) != base + 77;
        }
        wrong += redux_sync_max_u32(0, 0xffffffffu) != 0;
        wrong += redux_sync_max_u32(0xffffffffu - laneid(), 0xffffffffu) != 0xffffffffu;  // without a sign
      },
      [&] { CHECK(wrong == 0); });
}

TEST_CASE("the bits of floats without a sign are in the order of their values, NaN last") {
  const float values[] = {0.0f, 0x1p-149f, 0x1p-126f, 1.0f, 448.0f, 3e38f, INFINITY, NAN};
  std::vector<u32> seen(8);
  run({.threads = 32}, [&] {
    for (u32 most = 0; most < 8; ++most) {
      const u32 got = redux_sync_max_u32(f32_bits(values[laneid() % (most + 1)]), 0xffffffffu);
      if (laneid() == 0) seen[most] = got;
    }
  });
  for (u32 most = 0; most < 8; ++most) CHECK(seen[most] == f32_bits(values[most]));
}

TEST_CASE("it orders no memory; partial masks are refused") {
  expect_fault({}, FaultKind::race, "ld.shared reads", [] {
    st_shared_u32(dynamic_shared() + 4 * tid_x(), 0);
    redux_sync_max_u32(1, 0xffffffffu);
    ld_shared_u32(dynamic_shared() + 4 * (31 - tid_x()));
  });
  expect_fault({}, FaultKind::disagreement, "redux.sync with the mask 0x0000ffff",
               [] { redux_sync_max_u32(0, 0xffff); });
}
