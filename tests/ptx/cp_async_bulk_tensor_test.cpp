// TMA as kernels use it: addresses that a card refuses, barriers and phases, tiles in use, multicast over a cluster, bulk groups.
#include "emulator/ptx/cp_async_bulk_tensor.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/machine/tma_tensor.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("what an H200 answers with an illegal instruction or a misaligned address") {
  const TensorMapDescription bytes = plain_box();
  expect_fault(one, FaultKind::misaligned, "x = 8, 8 bytes into its row: no multiple of 16",
               loader(bytes, 0, 8, 4, 256));
  expect_fault(one, FaultKind::misaligned, "x = -5, -5 bytes", loader(bytes, 0, -5, 4, 256));
  TensorMapDescription words = describe(shared_tensor(), SwizzleMode::b128, TensorElement::uint32, 128, 3, 0);
  expect_fault(one, FaultKind::misaligned, "x = 2, 8 bytes", loader(words, 0, 2, 4, 384));
  for (const u32 offset : {16u, 64u})
    expect_fault(one, FaultKind::misaligned, "is no multiple of 128", loader(bytes, offset, 16, 4, 256));
  const TensorMap map = machine::encode_tensor_map(bytes);
  const auto store = [&](u32 offset, i32 x) {
    for (u32 i = 0; i < 512; i += 16) st_shared_v4_u32(dynamic_shared() + i, {});
    fence_proxy_async_shared_cta();
    cp_async_bulk_tensor_2d_global_shared(map, x, 0, dynamic_shared() + offset);
  };
  expect_fault(one, FaultKind::misaligned, "is no multiple of 128", [&] { store(64, 0); });
  expect_fault(one, FaultKind::misaligned, "x = 24, 24 bytes", [&] { store(0, 24); });
  expect_fault(one, FaultKind::out_of_bounds, "a store of a box that begins at x = -16",
               [&] { store(0, -16); });
}

TEST_CASE("a barrier that is none, and one that the async proxy may not see yet") {
  const TensorMap map = machine::encode_tensor_map(plain_box());
  expect_fault(one, FaultKind::barrier_use, "no mbarrier was initialised at shared 0xc00", [&] {
    cp_async_bulk_tensor_2d_shared_global(dynamic_shared(), map, 0, 0, dynamic_shared() + 2048);
  });
  expect_fault(one, FaultKind::missing_proxy_fence, "fence.mbarrier_init", [&] {
    mbarrier_init_b64(dynamic_shared() + 2048, 1);
    cp_async_bulk_tensor_2d_shared_global(dynamic_shared(), map, 0, 0, dynamic_shared() + 2048);
  });
}

TEST_CASE("bytes that land before they are expected; two copies in one phase; many phases") {
  const TensorMap map = machine::encode_tensor_map(plain_box());
  std::vector<u32> seen;
  expect_clean(
      {.threads = 64},
      [&] {
        const u32 tile = dynamic_shared(), bar = tile + 2048;
        shared_mbarrier(bar, 2, 64);
        for (u32 phase = 0; phase < 6; ++phase) {
          if (tid_x() == 0) {
            cp_async_bulk_tensor_2d_shared_global(tile, map, 0, static_cast<i32>(phase), bar);
            cp_async_bulk_tensor_2d_shared_global(tile + 256, map, 64, static_cast<i32>(phase), bar);
            mbarrier_arrive_expect_tx_b64(bar, 500);
            mbarrier_arrive_expect_tx_b64(bar, 12);
          }
          wait_for(bar, phase & 1);
          if (tid_x() == 63) {
            seen.push_back(ld_shared_u32(tile + 4));
            seen.push_back(ld_shared_u32(tile + 256 + 4));
          }
          bar_sync(0, 64);
        }
      },
      [&] {
        REQUIRE(seen.size() == 12);
        for (u32 i = 0; i < 12; ++i) {
          u32 word;
          std::memcpy(&word, shared_tensor().bytes + i / 2 * pitch + i % 2 * 64 + 4, 4);
          CHECK(seen[i] == word);
        }
        seen.clear();
      });
}

TEST_CASE("a load over a tile that is still read, and a read of a tile that is still landing") {
  const TensorMap map = machine::encode_tensor_map(plain_box());
  const auto kernel = [&](bool wait_for_readers, bool wait_for_landing) {
    const u32 tile = dynamic_shared(), bar = tile + 2048;
    shared_mbarrier(bar, 1, 64);
    for (u32 phase = 0; phase < 2; ++phase) {
      if (tid_x() == 0) {
        mbarrier_arrive_expect_tx_b64(bar, 256);
        cp_async_bulk_tensor_2d_shared_global(tile, map, 0, 0, bar);
      }
      if (wait_for_landing || tid_x() != 40) wait_for(bar, phase);
      ld_shared_u32(tile + 4 * tid_x());
      if (wait_for_readers) bar_sync(0, 64);
    }
  };
  expect_clean({.threads = 64}, [&] { kernel(true, true); });
  expect_fault({.threads = 64}, FaultKind::race, "cp.async.bulk.tensor (load) overwrites",
               [&] { kernel(false, true); });
  for (const Turn turn : every_turn()) {
    const auto fault = fault_of(
        {.threads = 64}, [&] { kernel(true, false); }, turn);
    REQUIRE(fault);  // before the copy was issued there is nothing to read
    CHECK((fault->kind == FaultKind::race || fault->kind == FaultKind::uninitialised));
    CHECK(fault->thread == 40);
  }
}

TEST_CASE("multicast: the same bytes at the same place in both blocks, and counted at both barriers") {
  const TensorMap map = machine::encode_tensor_map(plain_box());
  const TensorMap deep = machine::encode_tensor_map(
      describe(shared_tensor(), SwizzleMode::b128, TensorElement::uint8, 128, 2, 2));
  std::array<std::array<u32, 4>, 2> seen{};
  const auto kernel = [&](bool three, u32 mask) {
    const u32 tile = dynamic_shared(), bar = tile + 2048, rank = cluster_ctarank();
    mbarrier_init_b64(bar, 1);
    fence_mbarrier_init_release_cluster();
    barrier_cluster_arrive();
    barrier_cluster_wait();
    mbarrier_arrive_expect_tx_b64(bar, 512);
    if (three) {
      if (rank == 1)
        cp_async_bulk_tensor_3d_shared_global_multicast(tile, deep, 0, 1, 2, bar, static_cast<u16>(mask));
    } else {
      cp_async_bulk_tensor_2d_shared_global_multicast(tile + 256 * rank, map, 0, static_cast<i32>(4 * rank),
                                                      bar, static_cast<u16>(mask));
    }
    wait_for(bar, 0);
    seen[rank] = {ld_shared_u32(tile), ld_shared_u32(tile + 252), ld_shared_u32(tile + 256),
                  ld_shared_u32(tile + 508)};
    barrier_cluster_arrive();
    barrier_cluster_wait();
  };
  const auto word = [](u32 at) {
    u32 value;
    std::memcpy(&value, shared_tensor().bytes + at, 4);
    return value;
  };
  const Setup pair{.threads = 1, .grid = {2, 1}, .cluster = {2, 1}};
  expect_clean(
      pair, [&] { kernel(false, 3); },
      [&] {
        const std::array<u32, 4> expected = {word(0), word(3 * pitch + 60), word(4 * pitch),
                                             word(7 * pitch + 60)};
        CHECK(seen[0] == expected);
        CHECK(seen[1] == expected);
      });
  expect_clean(
      pair, [&] { kernel(true, 3); },
      [&] {
        // Rows 0 to 3 of the swizzle's pattern: chunk 0 of row 0; byte 124 of row 1 is in chunk 7 ^ 1; and so on.
        const std::array<u32, 4> expected = {
            word(2 * plane + pitch), word(2 * plane + 2 * pitch + 6 * 16 + 12),
            word(3 * plane + pitch + 2 * 16), word(3 * plane + 2 * pitch + 4 * 16 + 12)};
        CHECK(seen[0] == expected);
        CHECK(seen[1] == expected);
      });
  expect_fault(pair, FaultKind::out_of_bounds, "multicast to rank 2 in a cluster of 2",
               [&] { kernel(false, 7); });
  expect_fault(pair, FaultKind::disagreement, "a mask of 0", [&] { kernel(false, 0); });
  expect_fault(pair, FaultKind::deadlock, "256 bytes outstanding",
               [&] { kernel(false, 1u << cluster_ctarank()); });
}

TEST_CASE("bulk groups: the staging tile is free once its group has been read, not before") {
  Tensor out;
  TensorMapDescription description = plain_box();
  description.base = reinterpret_cast<u64>(out.bytes);
  const TensorMap map = machine::encode_tensor_map(description);
  const auto kernel = [&](u32 stages, auto wait) {
    for (u32 i = 0; i < 4; ++i) {
      const u32 tile = dynamic_shared() + i % stages * 256;
      if (i >= stages) wait();
      for (u32 at = 0; at < 256; at += 16) st_shared_v4_u32(tile + at, {i, i, i, i});
      fence_proxy_async_shared_cta();
      cp_async_bulk_tensor_2d_global_shared(map, 0, static_cast<i32>(4 * i), tile);
      cp_async_bulk_commit_group();
    }
    cp_async_bulk_wait_group<0>();
  };
  const auto right = [&] {
    for (u32 row = 0; row < 13; ++row) CHECK(out.bytes[row * pitch + 60] == row / 4);
    std::fill(std::begin(out.bytes), std::end(out.bytes), u8{0xee});
  };
  expect_clean(
      one, [&] { kernel(1, [] { cp_async_bulk_wait_group_read<0>(); }); }, right);
  expect_clean(
      one, [&] { kernel(2, [] { cp_async_bulk_wait_group_read<1>(); }); }, right);
  expect_fault(one, FaultKind::race, "the read by cp.async.bulk.tensor (store)", [&] { kernel(1, [] {}); });
  expect_fault(one, FaultKind::race, "the read by cp.async.bulk.tensor (store)",
               [&] { kernel(1, [] { cp_async_bulk_wait_group_read<1>(); }); });
  expect_fault(one, FaultKind::race, "the read by cp.async.bulk.tensor (store)",
               [&] { kernel(2, [] { cp_async_bulk_wait_group_read<2>(); }); });
}

TEST_CASE("a store reads what is there: nothing uninitialised, nothing without a fence") {
  const TensorMap map = machine::encode_tensor_map(plain_box());
  const auto kernel = [&](u32 stored, bool fence) {
    for (u32 at = 0; at < stored; at += 16) st_shared_v4_u32(dynamic_shared() + at, {});
    if (fence) fence_proxy_async_shared_cta();
    cp_async_bulk_tensor_2d_global_shared(map, 0, 0, dynamic_shared());
  };
  expect_fault(one, FaultKind::uninitialised, "(store) reads shared 0x4f0", [&] { kernel(240, true); });
  expect_fault(one, FaultKind::missing_proxy_fence, "a fence.proxy.async is needed",
               [&] { kernel(256, false); });
}

TEST_CASE("two stores to one element by two blocks") {
  Tensor out;
  TensorMapDescription description = plain_box();
  description.base = reinterpret_cast<u64>(out.bytes);
  const TensorMap map = machine::encode_tensor_map(description);
  const auto kernel = [&](u32 rows) {
    for (u32 at = 0; at < 256; at += 16) st_shared_v4_u32(dynamic_shared() + at, {});
    fence_proxy_async_shared_cta();
    cp_async_bulk_tensor_2d_global_shared(map, 0, static_cast<i32>(rows * ctaid_x()), dynamic_shared());
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();
  };
  machine::GlobalMemory memory;
  memory.add("out", out.bytes, sizeof out.bytes, machine::GlobalMemory::Access::write);
  const Setup setup{.threads = 1, .grid = {2, 1}, .memory = &memory};
  expect_clean(setup, [&] { kernel(4); });
  const auto fault = fault_of(setup, [&] { kernel(3); });
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::race);
  CHECK_THAT(fault->what(), contains_text("has written already"));
}
