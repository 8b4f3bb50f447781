// Ordinary accesses, stmatrix and the instructions that a warp executes together, as the machine performs them.
#include <algorithm>
#include <string_view>
#include <utility>

#include "emulator/machine/operations.hpp"
#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("every kind of fault has a name of its own") {
  std::vector<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(FaultKind::deadlock); ++kind) {
    names.push_back(machine::fault_name(static_cast<FaultKind>(kind)));
    CHECK_FALSE(names.back().empty());
  }
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
}

TEST_CASE("a site is told from the root of the project") {
  using machine::Site;
  CHECK(Site{"../gpu/kernels/tile.hpp", 40}.text() == "gpu/kernels/tile.hpp:40");
  CHECK(Site{"../../a.hpp", 1}.text() == "a.hpp:1");
  CHECK(Site{}.text() == "(unknown line)");
  const Site here = Site::here();
  CHECK(here.line == __LINE__ - 1);
  CHECK_THAT(here.text(), contains_text("tests/machine/memory_test.cpp:"));
}

TEST_CASE("all lanes of a warp bring a value, and all see what all brought, over many rounds") {
  std::vector<u32> wrong(64);
  expect_clean(
      {.threads = 64},
      [&] {
        const u32 me = tid_x();
        for (u32 round = 0; round < 50; ++round) {
          const auto& all = machine::warp_collective(machine::self(), "test", 0, {1000 * round + me}, false,
                                                     {}, machine::Site::here());
          for (u32 lane = 0; lane < 32; ++lane)
            wrong[me] += all[lane][0] != 1000 * round + me / 32 * 32 + lane;
        }
      },
      [&] { CHECK(wrong == std::vector<u32>(64)); });
}

TEST_CASE("a collective acts once, when the last lane has come") {
  u32 acted = 0;
  expect_clean(
      {},
      [&] {
        machine::warp_collective(
            machine::self(), "test", 0, {}, false, [&](const machine::WarpCollective&) { ++acted; },
            machine::Site::here());
      },
      [&] { CHECK(std::exchange(acted, 0u) == 1); });
}

TEST_CASE("lanes on different lines of an aligned instruction, or with different operands, are refused") {
  expect_fault({}, FaultKind::disagreement, "all 32 lanes must execute the same", [] {
    if (tid_x() < 16) {
      elect_sync(0xffffffffu);
    } else {
      elect_sync(0xffffffffu);
    }
  });
  expect_fault({}, FaultKind::disagreement, "all 32 lanes must execute the same", [] {
    machine::warp_collective(machine::self(), "test", tid_x() / 31, {}, false, {}, machine::Site::here());
  });
  expect_fault({}, FaultKind::disagreement, "only whole warps (0xffffffff) are modelled",
               [] { bar_warp_sync(0x0000ffffu); });
}

TEST_CASE("bar.warp.sync orders the memory of its lanes; a collective that says so does not") {
  const auto kernel = [](bool barrier) {
    const u32 at = dynamic_shared();
    st_shared_u32(at + 4 * tid_x(), tid_x());
    machine::warp_collective(machine::self(), "test", 0, {}, barrier, {}, machine::Site::here());
    ld_shared_u32(at + 4 * (31 - tid_x()));
  };
  expect_clean({}, [&] { kernel(true); });
  expect_fault({}, FaultKind::race, "shared 0x4", [&] { kernel(false); });
}

TEST_CASE("stmatrix: rows off their alignment, outside, or somebody else's") {
  const Setup setup{.shared_bytes = 1024};
  expect_fault(setup, FaultKind::misaligned, "stmatrix: shared address 0x408 is no multiple of 16",
               [] { stmatrix_m8n8_x1_b16(dynamic_shared() + 8, 0); });
  expect_fault(setup, FaultKind::out_of_bounds, "stmatrix",
               [] { stmatrix_m8n8_x1_b16(dynamic_shared() + 1024 - 16 * (tid_x() % 4), 0); });
  expect_fault(setup, FaultKind::race, "stmatrix touches",
               [] { stmatrix_m8n8_x1_b16(dynamic_shared(), 0); });  // eight rows at one address
  // Lanes 8 to 31 give no address that x1 uses.
  expect_clean(setup, [] { stmatrix_m8n8_x1_b16(tid_x() < 8 ? dynamic_shared() + 16 * tid_x() : 3, 0); });
  expect_fault({.threads = 16}, FaultKind::disagreement,
               "a whole warp is needed, and the block has 16 threads",
               [] { stmatrix_m8n8_x1_b16(dynamic_shared() + 16 * tid_x(), 0); });
}

TEST_CASE("mapa: the same place in another block; a rank that is none") {
  std::vector<u32> seen(2);
  expect_clean(
      {.threads = 1, .grid = {2, 1}, .cluster = {2, 1}},
      [&] { seen[cluster_ctarank()] = mapa_shared_cluster_u32(dynamic_shared() + 8, 1); },
      [&] { CHECK(seen == std::vector<u32>(2, 0x01000408)); });
  expect_fault({.threads = 1}, FaultKind::out_of_bounds, "mapa to rank 1 in a cluster of 1",
               [] { mapa_shared_cluster_u32(dynamic_shared(), 1); });
}

TEST_CASE("another block's shared memory is not for ordinary loads and stores") {
  expect_fault({.threads = 1, .grid = {2, 1}, .cluster = {2, 1}}, FaultKind::out_of_bounds, "lies outside",
               [] { st_shared_u32(mapa_shared_cluster_u32(dynamic_shared(), cluster_ctarank() ^ 1), 0); });
}
