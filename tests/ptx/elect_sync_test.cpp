// elect.sync: one lane of each warp, the same every time. shfl.sync.idx: the value of another lane.
#include "emulator/ptx/elect_sync.hpp"

#include "emulator/ptx/shfl_sync.hpp"
#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("one lane of each warp is elected, in every round the same") {
  std::vector<u32> elected(96);
  expect_clean(
      {.threads = 96},
      [&] {
        for (u32 i = 0; i < 10; ++i) elected[tid_x()] += elect_sync(0xffffffffu);
      },
      [&] {
        for (u32 i = 0; i < 96; ++i) CHECK(elected[i] == (i % 32 == 0 ? 10 : 0));
        elected.assign(96, 0);
      });
}

TEST_CASE("election and shuffle order no memory") {
  const auto kernel = [](bool barrier) {
    st_shared_u32(dynamic_shared() + 4 * tid_x(), 0);
    elect_sync(0xffffffffu);
    shfl_sync_idx_b32(0u, 0, 0xffffffffu);
    if (barrier) bar_warp_sync(0xffffffffu);
    ld_shared_u32(dynamic_shared() + 4 * (31 - tid_x()));
  };
  expect_clean({}, [&] { kernel(true); });
  expect_fault({}, FaultKind::race, "ld.shared reads", [&] { kernel(false); });
}

TEST_CASE("shuffles over several rounds: each lane asks another one, the index taken modulo 32") {
  u32 wrong = 0;
  expect_clean(
      {.threads = 64},
      [&] {
        u32 value = tid_x();
        for (u32 round = 0; round < 20; ++round) {
          const u32 from = (laneid() * 5 + round) % 32;
          const u32 got = shfl_sync_idx_b32(1000 * round + tid_x(), from + 32 * (round % 3), 0xffffffffu);
          wrong += got != 1000 * round + tid_x() / 32 * 32 + from;
          value = shfl_sync_idx_b32(value, 31 - laneid(), 0xffffffffu);
        }
        wrong += value != tid_x();  // turned round an even number of times
      },
      [&] { CHECK(wrong == 0); });
}

TEST_CASE("a warp's index made uniform, as kernels do") {
  std::vector<u32> seen(128);
  expect_clean(
      {.threads = 128}, [&] { seen[tid_x()] = shfl_sync_idx_b32(tid_x() / 32, 0, 0xffffffffu); },
      [&] {
        for (u32 i = 0; i < 128; ++i) CHECK(seen[i] == i / 32);
      });
}

TEST_CASE("shuffles of floats: bits as they are, NaN payloads and signs of zero among them") {
  constexpr u32 special[] = {0x00000000, 0x80000000, 0x00000001, 0x7f800000,
                             0x7fc00001, 0xff812345, 0x3f800000, 0xc2280000};
  u32 wrong = 0;
  expect_clean(
      {.threads = 64},
      [&] {
        const auto bits_of = [&](u32 thread) { return special[thread % 8] ^ (thread / 8 << 3); };
        for (u32 round = 0; round < 32; ++round) {
          const float got =
              shfl_sync_idx_b32(f32_from_bits(bits_of(tid_x())), round + 32 * (round % 2), 0xffffffffu);
          wrong += f32_bits(got) != bits_of(tid_x() / 32 * 32 + round);
        }
      },
      [&] { CHECK(wrong == 0); });
}

TEST_CASE("partial masks are refused, and lanes that stand on two lines") {
  expect_fault({}, FaultKind::disagreement, "elect.sync with the mask 0x0000ffff",
               [] { elect_sync(0xffff); });
  expect_fault({}, FaultKind::disagreement, "shfl.sync with the mask 0x00000001",
               [] { shfl_sync_idx_b32(0u, 0, 1); });
  expect_fault({}, FaultKind::disagreement, "shfl.sync with the mask 0x00000003",
               [] { shfl_sync_idx_b32(1.0f, 0, 3); });
  expect_fault({}, FaultKind::disagreement, "all 32 lanes must execute the same", [] {
    if (tid_x() % 2) {
      elect_sync(0xffffffffu);
    } else {
      shfl_sync_idx_b32(0u, 0, 0xffffffffu);
    }
  });
}
