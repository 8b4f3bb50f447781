// TMA against plain loops: every swizzle, 2D and 3D, boxes that hang over every edge, narrow boxes; and maps that are refused. What
// an H200 does with such boxes is recorded in tests/golden/layouts.json; waits and multicast: tests/ptx/cp_async_bulk_tensor_test.cpp.
#include <algorithm>
#include <array>
#include <cstring>

#include "tests/machine/tma_tensor.hpp"

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
