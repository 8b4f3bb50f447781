// Threads and blocks at work: schedules that repeat, things that land in their time, and blocks that end too early.
#include "emulator/machine/cluster.hpp"

#include <algorithm>
#include <string>

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

/// The order in which 16 threads of two warps come by, over some rounds of waits.
std::string order(Turn turn) {
  std::string seen;
  run(
      {.threads = 64},
      [&] {
        for (u32 i = 0; i < 4; ++i) {
          if (tid_x() % 8 == 0) seen += static_cast<char>('a' + tid_x() / 8);
          bar_sync(1, 64);
        }
      },
      turn);
  return seen;
}

alignas(64) u8 tensor[64 * 64];

TensorMap map_of_tensor() {
  return machine::encode_tensor_map({reinterpret_cast<u64>(tensor),
                                     TensorElement::uint8,
                                     2,
                                     {64, 64, 1},
                                     {64, 0},
                                     {64, 4, 1},
                                     SwizzleMode::none});
}

}  // namespace

TEST_CASE("the orderly schedules take threads in order; a random one repeats by its seed and differs by it") {
  const std::string first_round = "abcdefgh";
  for (const Schedule schedule : {Schedule::earliest, Schedule::latest, Schedule::mixed})
    CHECK(order({schedule, 5}).substr(0, 8) == first_round);
  std::vector<std::string> random;
  for (u64 seed = 0; seed < 8; ++seed) {
    random.push_back(order({Schedule::random, seed}));
    CHECK(random.back() == order({Schedule::random, seed}));
    std::string sorted = random.back();
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == "aaaabbbbccccddddeeeeffffgggghhhh");
  }
  std::sort(random.begin(), random.end());
  CHECK(std::unique(random.begin(), random.end()) - random.begin() >= 7);
}

TEST_CASE("threads and blocks know who they are") {
  std::vector<std::string> names;
  run({.threads = 2, .grid = {2, 2}, .cluster = {2, 1}}, [&] { names.push_back(machine::self().name()); },
      {Schedule::latest, 0});
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"thread 0 of block (0,0)", "thread 0 of block (0,1)",
                                          "thread 0 of block (1,0)", "thread 0 of block (1,1)",
                                          "thread 1 of block (0,0)", "thread 1 of block (0,1)",
                                          "thread 1 of block (1,0)", "thread 1 of block (1,1)"});
}

TEST_CASE("an exception of the kernel itself comes out as it is, and every stack ends in order") {
  u32 ended = 0;
  struct Guard {
    u32& count;
    ~Guard() { ++count; }
  };
  for (const Turn turn : every_turn()) {
    ended = 0;
    CHECK_THROWS_WITH(run(
                          {.threads = 96},
                          [&] {
                            const Guard guard{ended};
                            bar_sync(0, 96);
                            if (tid_x() == 50) throw std::runtime_error("of the kernel");
                            bar_sync(0, 96);
                          },
                          turn),
                      "of the kernel");
    CHECK(ended == 96);
  }
}

TEST_CASE("a block must not end before a copy into it was waited for, even if it has landed by luck") {
  const TensorMap map = map_of_tensor();
  const auto kernel = [&](bool wait) {
    const u32 tile = dynamic_shared(), bar = tile + 512;
    shared_mbarrier(bar, 1, 64);
    if (tid_x() == 0) {
      mbarrier_arrive_expect_tx_b64(bar, 256);
      cp_async_bulk_tensor_2d_shared_global(tile, map, 0, 0, bar);
    }
    for (u32 i = 0; i < 20; ++i) bar_sync(0, 64);  // time enough to land
    if (wait) wait_for(bar, 0);
  };
  expect_clean({.threads = 64}, [&] { kernel(true); });
  expect_fault({.threads = 64}, FaultKind::unfinished, "block", [&] { kernel(false); });
}

TEST_CASE("a thread must not end before its bulk stores were waited for") {
  const TensorMap map = map_of_tensor();
  const auto kernel = [&](bool wait) {
    st_shared_v4_u32(dynamic_shared() + 16 * tid_x(), {});
    fence_proxy_async_shared_cta();
    bar_sync(0, 32);
    if (tid_x() == 0) {
      cp_async_bulk_tensor_2d_global_shared(map, 0, 0, dynamic_shared());
      cp_async_bulk_commit_group();
      if (wait) cp_async_bulk_wait_group<0>();
    }
    for (u32 i = 0; i < 20; ++i) bar_sync(0, 32);
  };
  expect_clean({}, [&] { kernel(true); });
  expect_fault({}, FaultKind::unfinished, "cp.async.bulk.wait_group is needed", [&] { kernel(false); });
}

TEST_CASE("more barriers than the machine models are told, not overrun") {
  expect_fault({.threads = 1}, FaultKind::barrier_use, "more than 160 mbarriers", [] {
    for (u32 i = 0; i < 200; ++i) mbarrier_init_b64(dynamic_shared() + 8 * i, 1);
  });
}
