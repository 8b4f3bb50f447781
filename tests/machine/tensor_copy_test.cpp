// TMA against plain loops: every swizzle, 2D and 3D, boxes that hang over every edge, narrow boxes, multicast, bulk groups; and
// what a card refuses. What an H200 does with the same boxes is recorded in tests/golden/layouts.json.
#include <algorithm>
#include <array>
#include <cstring>

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

constexpr SwizzleMode modes[] = {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};

/// The chunk bits by division, apart from emulator/layout/swizzle.hpp.
u32 swizzled(SwizzleMode mode, u32 address) {
  const u32 line = address / 128, chunk = address / 16;
  const u32 x = mode == SwizzleMode::b128  ? line % 8
                : mode == SwizzleMode::b64 ? line % 4
                : mode == SwizzleMode::b32 ? line % 2
                                           : 0;
  return (chunk ^ x) * 16 + address % 16;
}

u32 width_of(SwizzleMode mode, u32 row_bytes) {
  return mode == SwizzleMode::b128  ? 128
         : mode == SwizzleMode::b64 ? 64
         : mode == SwizzleMode::b32 ? 32
                                    : row_bytes;
}

struct Case {
  TensorMapDescription map;
  i32 x = 0, y = 0, z = 0;
  u32 offset = 0;  // of the box in shared memory
};

constexpr u32 pitch = 256, plane = 16 * pitch, tensor_bytes = 6 * plane, shared_bytes = 40 * 1024;

struct Tensor {
  alignas(64) u8 bytes[tensor_bytes];
  Tensor() {
    u32 state = 7;
    for (u8& b : bytes) {
      state = state * 1664525 + 1013904223;
      b = static_cast<u8>(state >> 24);
    }
  }
};

TensorMapDescription describe(const Tensor& tensor, SwizzleMode mode, TensorElement element, u32 row_bytes,
                              u32 rows, u32 planes) {
  const u32 size = element_bytes(element);
  TensorMapDescription map;
  map.base = reinterpret_cast<u64>(tensor.bytes);
  map.element = element;
  map.rank = planes ? 3 : 2;
  map.size[0] = 192 / size;
  map.size[1] = 13;
  map.size[2] = planes ? 5 : 1;
  map.stride[0] = pitch;
  map.stride[1] = planes ? plane : 0;
  map.box[0] = row_bytes / size;
  map.box[1] = rows;
  map.box[2] = planes ? planes : 1;
  map.swizzle = mode;
  return map;
}

/// Calls element(byte of the tensor or -1 when outside, linear offset in the box) for each byte of the box.
template <class Byte>
void each_byte(const Case& c, const Byte& byte) {
  const u32 size = element_bytes(c.map.element), row_bytes = c.map.box[0] * size;
  const u32 width = width_of(c.map.swizzle, row_bytes);
  for (i32 z = 0; z < static_cast<i32>(c.map.box[2]); ++z) {
    for (i32 y = 0; y < static_cast<i32>(c.map.box[1]); ++y) {
      for (i32 k = 0; k < static_cast<i32>(row_bytes); ++k) {
        const i32 column = c.x * static_cast<i32>(size) + k, row = c.y + y, level = c.z + z;
        const bool inside = column >= 0 && column < 192 && row >= 0 && row < 13 && level >= 0 &&
                            level < static_cast<i32>(c.map.size[2]);
        const i32 at = inside ? level * static_cast<i32>(plane) + row * static_cast<i32>(pitch) + column : -1;
        byte(at, (static_cast<u32>(z) * c.map.box[1] + static_cast<u32>(y)) * width + static_cast<u32>(k));
      }
    }
  }
}

void load(const TensorMap& map, const Case& c, u32 to, u32 bar) {
  if (c.map.rank == 3) {
    cp_async_bulk_tensor_3d_shared_global(to, map, c.x, c.y, c.z, bar);
  } else {
    cp_async_bulk_tensor_2d_shared_global(to, map, c.x, c.y, bar);
  }
}

void check_load(const Tensor& tensor, const Case& c) {
  const TensorMap map = machine::encode_tensor_map(c.map);
  const u32 bytes = c.map.box[0] * c.map.box[1] * c.map.box[2] * element_bytes(c.map.element);
  std::vector<u8> expected(shared_bytes, 0xff);
  std::vector<bool> touched(shared_bytes);
  const u32 begin = 1024;
  each_byte(c, [&](i32 at, u32 linear) {
    const u32 address = swizzled(c.map.swizzle, begin + c.offset + linear) - begin;
    expected[address] = at < 0 ? u8{0} : tensor.bytes[at];
    touched[address] = true;
  });
  std::vector<u8> seen(shared_bytes, 0xff);
  const auto fault = fault_of({.threads = 1, .shared_bytes = shared_bytes}, [&] {
    const u32 bar = dynamic_shared() + shared_bytes - 8;
    mbarrier_init_b64(bar, 1);
    fence_mbarrier_init_release_cluster();
    mbarrier_arrive_expect_tx_b64(bar, bytes);
    load(map, c, dynamic_shared() + c.offset, bar);
    wait_for(bar, 0);
    for (u32 at = 0; at < shared_bytes - 8; at += 4) {
      if (!touched[at]) continue;
      const u32 word = ld_shared_u32(dynamic_shared() + at);
      std::memcpy(&seen[at], &word, 4);
    }
  });
  INFO((fault ? fault->what() : ""));
  REQUIRE(!fault);
  CHECK(seen == expected);
}

void check_store(const Case& at_tensor) {
  Tensor tensor;
  Case c = at_tensor;
  c.map.base = reinterpret_cast<u64>(tensor.bytes);
  std::fill(std::begin(tensor.bytes), std::end(tensor.bytes), u8{0xee});
  const TensorMap map = machine::encode_tensor_map(c.map);
  const auto content = [](u32 address) { return static_cast<u8>(address * 167 + address / 256 * 13); };
  std::vector<u8> expected(tensor_bytes, 0xee);
  const u32 begin = 1024, extent = c.map.box[1] * c.map.box[2] *
                                   width_of(c.map.swizzle, c.map.box[0] * element_bytes(c.map.element));
  each_byte(c, [&](i32 at, u32 linear) {
    if (at >= 0) expected[static_cast<u32>(at)] = content(swizzled(c.map.swizzle, begin + c.offset + linear));
  });
  const auto fault = fault_of({.threads = 1, .shared_bytes = shared_bytes}, [&] {
    const u32 tile = dynamic_shared() + c.offset;
    for (u32 at = tile; at < tile + extent; at += 4)
      st_shared_u32(at, content(at) | u32{content(at + 1)} << 8 | u32{content(at + 2)} << 16 |
                            u32{content(at + 3)} << 24);
    fence_proxy_async_shared_cta();
    if (c.map.rank == 3) {
      cp_async_bulk_tensor_3d_global_shared(map, c.x, c.y, c.z, tile);
    } else {
      cp_async_bulk_tensor_2d_global_shared(map, c.x, c.y, tile);
    }
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();
  });
  INFO((fault ? fault->what() : ""));
  REQUIRE(!fault);
  CHECK(std::equal(expected.begin(), expected.end(), tensor.bytes));
}

/// Every mode, every width that it takes, off its period by multiples of 128 bytes, over every edge.
std::vector<Case> cases(const Tensor& tensor) {
  std::vector<Case> all;
  for (const SwizzleMode mode : modes) {
    for (const u32 row_bytes : {16u, 32u, 48u, 64u, 128u}) {
      if (mode != SwizzleMode::none && row_bytes > width_of(mode, 0)) continue;
      for (const u32 planes : {0u, 3u}) {
        for (const TensorElement element : {TensorElement::uint8, TensorElement::bf16, TensorElement::f32}) {
          const i32 chunk = static_cast<i32>(16 / element_bytes(element));
          const std::array<std::array<i32, 3>, 8> places = {{{0, 0, 0},
                                                             {chunk, 2, 1},
                                                             {-chunk, 3, 1},
                                                             {2 * chunk, -3, -2},
                                                             {9 * chunk, 9, 3},
                                                             {12 * chunk, 0, 0},
                                                             {0, 13, 0},
                                                             {-(1 << 20), -(1 << 20), 7}}};
          for (std::size_t i = 0; i < places.size(); ++i) {
            const auto [x, y, z] = places[i];
            all.push_back({describe(tensor, mode, element, row_bytes, 7, planes), x, y, planes ? z : 0,
                           128 * static_cast<u32>(i)});
          }
        }
      }
    }
  }
  return all;
}

std::string text(const Case& c) {
  return "swizzle " + std::to_string(swizzle_width(c.map.swizzle)) + ", rank " + std::to_string(c.map.rank) +
         ", box " + std::to_string(c.map.box[0]) + ", at " + std::to_string(c.x) + " " + std::to_string(c.y) +
         " " + std::to_string(c.z) + ", offset " + std::to_string(c.offset);
}

const Tensor& shared_tensor() {
  static const Tensor tensor;
  return tensor;
}

TensorMapDescription plain_box() {
  return describe(shared_tensor(), SwizzleMode::none, TensorElement::uint8, 64, 4, 0);
}

/// One thread loads `map` to `offset` at (x, y) and waits for `bytes`.
auto loader(const TensorMapDescription& description, u32 offset, i32 x, i32 y, u32 bytes) {
  const TensorMap map = machine::encode_tensor_map(description);
  return [=] {
    const u32 bar = dynamic_shared() + 2048;
    mbarrier_init_b64(bar, 1);
    fence_mbarrier_init_release_cluster();
    mbarrier_arrive_expect_tx_b64(bar, bytes);
    cp_async_bulk_tensor_2d_shared_global(dynamic_shared() + offset, map, x, y, bar);
    wait_for(bar, 0);
  };
}

const Setup one{.threads = 1};

}  // namespace

TEST_CASE("loads place every byte where a plain loop does, and touch no other") {
  for (const Case& c : cases(shared_tensor())) {
    INFO(text(c));
    check_load(shared_tensor(), c);
  }
}

TEST_CASE("stores take every byte from where a plain loop does, and write nothing outside the tensor") {
  for (const Case& c : cases(shared_tensor())) {
    if (c.x < 0 || c.y < 0 || c.z < 0) continue;  // refused, below
    INFO(text(c));
    check_store(c);
  }
}

TEST_CASE("a box narrower than its swizzle leaves the rest of each row alone") {
  TensorMapDescription map = describe(shared_tensor(), SwizzleMode::b128, TensorElement::uint8, 16, 4, 0);
  const auto kernel = loader(map, 0, 0, 0, 64);
  expect_clean(one, kernel);
  expect_fault(one, FaultKind::uninitialised, "shared 0x410, which nobody has written", [&] {
    kernel();
    ld_shared_u32(dynamic_shared());
    ld_shared_u32(dynamic_shared() + 16);
  });
}

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
  const auto store = [&](u32 offset, i32 x, i32 y = 0) {
    for (u32 i = 0; i < 512; i += 16) st_shared_v4_u32(dynamic_shared() + i, {});
    fence_proxy_async_shared_cta();
    cp_async_bulk_tensor_2d_global_shared(map, x, y, dynamic_shared() + offset);
  };
  expect_fault(one, FaultKind::misaligned, "is no multiple of 128", [&] { store(64, 0); });
  expect_fault(one, FaultKind::misaligned, "x = 24, 24 bytes", [&] { store(0, 24); });
  expect_fault(one, FaultKind::out_of_bounds, "a store of a box that begins at x = -16",
               [&] { store(0, -16); });
  expect_fault(one, FaultKind::out_of_bounds, "a store of a box that begins at y = -1",
               [&] { store(0, 0, -1); });
}

TEST_CASE("maps and ranks") {
  const TensorMap flat = machine::encode_tensor_map(plain_box());
  const TensorMap deep = machine::encode_tensor_map(
      describe(shared_tensor(), SwizzleMode::none, TensorElement::uint8, 64, 4, 2));
  const TensorMap none = {};
  const auto with_barrier = [](auto copy) {
    return [=] {
      const u32 bar = dynamic_shared() + 2048;
      mbarrier_init_b64(bar, 1);
      fence_mbarrier_init_release_cluster();
      mbarrier_arrive_expect_tx_b64(bar, 256);
      copy(dynamic_shared(), bar);
    };
  };
  expect_fault(
      one, FaultKind::descriptor, "2d with a tensor map of rank 3",
      with_barrier([&](u32 to, u32 bar) { cp_async_bulk_tensor_2d_shared_global(to, deep, 0, 0, bar); }));
  expect_fault(
      one, FaultKind::descriptor, "3d with a tensor map of rank 2",
      with_barrier([&](u32 to, u32 bar) { cp_async_bulk_tensor_3d_shared_global(to, flat, 0, 0, 0, bar); }));
  expect_fault(one, FaultKind::descriptor, "2d with a tensor map of rank 3",
               [&] { cp_async_bulk_tensor_2d_global_shared(deep, 0, 0, dynamic_shared()); });
  expect_fault(one, FaultKind::descriptor, "this is no tensor map", with_barrier([&](u32 to, u32 bar) {
                 cp_async_bulk_tensor_2d_shared_global(to, none, 0, 0, bar);
               }));
  expect_fault(one, FaultKind::descriptor, "this is no tensor map", [&] { prefetch_tensormap(none); });
  expect_clean(one, [&] { prefetch_tensormap(flat); });
  CHECK(machine::decode_tensor_map(deep).box[2] == 2);
}

TEST_CASE("what the driver refuses to encode, in a sentence each") {
  const auto refused = [](const std::string& sentence, auto change) {
    TensorMapDescription map = plain_box();
    map.swizzle = SwizzleMode::b64;
    machine::encode_tensor_map(map);
    change(map);
    CHECK_THROWS_WITH(machine::encode_tensor_map(map), contains_text(sentence));
  };
  refused("rank 4; 1 to 3 are modelled", [](auto& map) { map.rank = 4; });
  refused("is no multiple of 16", [](auto& map) { map.base += 8; });
  refused("0 elements in dimension 1", [](auto& map) { map.size[1] = 0; });
  refused("a box of 257 elements in dimension 1; 1 to 256", [](auto& map) { map.box[1] = 257; });
  refused("a stride of 8 bytes in dimension 1 is no multiple of 16", [](auto& map) { map.stride[0] = 8; });
  refused("rank 2, but dimension 2 has 4 elements", [](auto& map) { map.size[2] = 4; });
  refused("a box with rows of 24 bytes; a multiple of 16 is needed", [](auto& map) { map.box[0] = 24; });
  refused("a box with rows of 80 bytes under a swizzle of 64 bytes", [](auto& map) { map.box[0] = 80; });
}

TEST_CASE("outside shared memory, outside what the launch was given") {
  expect_fault(one, FaultKind::out_of_bounds, "lies outside", loader(plain_box(), 4096 - 128, 0, 0, 256));
  machine::GlobalMemory memory;
  memory.add("small", shared_tensor().bytes, 4 * pitch, machine::GlobalMemory::Access::read);
  const Setup setup{.threads = 1, .memory = &memory};
  expect_clean(setup, loader(plain_box(), 0, 0, 0, 256));
  expect_clean(setup, loader(plain_box(), 0, 0, -3, 256));
  expect_clean(setup, loader(plain_box(), 0, 0, 13, 256));  // wholly outside the tensor: nothing is read
  expect_fault(setup, FaultKind::out_of_bounds, "of 'small', which has 1024 bytes",
               loader(plain_box(), 0, 0, 1, 256));
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
