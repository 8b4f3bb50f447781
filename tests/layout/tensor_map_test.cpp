// What a tensor map says: every element of a box has its own place, in shared memory and in the tensor.
#include "emulator/layout/tensor_map.hpp"

#include <array>
#include <map>
#include <set>
#include <vector>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

constexpr std::array modes = {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};
constexpr std::array elements = {TensorElement::uint8, TensorElement::uint16, TensorElement::uint32,
                                 TensorElement::bf16, TensorElement::f32};

TensorMapDescription box_of(TensorElement element, SwizzleMode mode) {
  TensorMapDescription map;
  map.base = 0x10000;
  map.element = element;
  map.rank = 3;
  map.size[0] = 96, map.size[1] = 9, map.size[2] = 4;
  map.stride[0] = 512, map.stride[1] = 16 * 512;
  map.box[0] = (mode == SwizzleMode::none ? 64 : swizzle_width(mode)) / element_bytes(element);
  map.box[1] = 5, map.box[2] = 3;
  map.swizzle = mode;
  return map;
}

}  // namespace

TEST_CASE("tensor map: a box fills its bytes of shared memory, each once, at any multiple of 128") {
  for (const SwizzleMode mode : modes) {
    for (const TensorElement element : elements) {
      const TensorMapDescription map = box_of(element, mode);
      for (u32 address = 0x400; address < 0x800; address += 128) {
        std::set<u32> seen;
        for (u32 z = 0; z < map.box[2]; ++z)
          for (u32 y = 0; y < map.box[1]; ++y)
            for (u32 x = 0; x < map.box[0]; ++x) {
              const u32 at = box_element_address(map, address, x, y, z);
              REQUIRE(at % element_bytes(element) == 0);
              REQUIRE(at >= address);
              seen.insert(at);
            }
        REQUIRE(seen.size() * element_bytes(element) == box_bytes(map));
        // Swizzling keeps within rows of the pattern, and the box has whole rows: nothing lies past its end.
        REQUIRE(*seen.rbegin() + element_bytes(element) == address + box_bytes(map));
      }
    }
  }
}

TEST_CASE("tensor map: the order within a box") {
  const TensorMapDescription map = box_of(TensorElement::uint16, SwizzleMode::none);
  CHECK(box_offset(map, 1, 0, 0) == 2);
  CHECK(box_offset(map, 0, 1, 0) == 64);
  CHECK(box_offset(map, 0, 0, 1) == 5 * 64);
  CHECK(box_bytes(map) == 3 * 5 * 64);
}

TEST_CASE("tensor map: elements inside the tensor have their own addresses") {
  const TensorMapDescription map = box_of(TensorElement::f32, SwizzleMode::b128);
  std::set<u64> seen;
  for (i32 z = 0; z < 4; ++z)
    for (i32 y = 0; y < 9; ++y)
      for (i32 x = 0; x < 96; ++x) {
        REQUIRE(inside_tensor(map, {x, y, z}));
        seen.insert(element_address(map, {x, y, z}));
      }
  CHECK(seen.size() == 4 * 9 * 96);
  CHECK(*seen.begin() == map.base);
  CHECK(element_address(map, {3, 2, 1}) == map.base + 3 * 4 + 2 * 512 + 16 * 512);
}

TEST_CASE("tensor map: inside means every coordinate from 0 to its size, with sign") {
  TensorMapDescription map = box_of(TensorElement::uint8, SwizzleMode::none);
  for (const TensorCoordinate at : {TensorCoordinate{-1, 0, 0},
                                    {96, 0, 0},
                                    {0, -1, 0},
                                    {0, 9, 0},
                                    {0, 0, -1},
                                    {0, 0, 4},
                                    {-2147483647 - 1, 0, 0},
                                    {2147483647, 0, 0}}) {
    INFO(at.x << " " << at.y << " " << at.z);
    CHECK_FALSE(inside_tensor(map, at));
  }
  CHECK(inside_tensor(map, {95, 8, 3}));
  map.rank = 2;  // a z other than 0 is outside, whatever size[2] says
  CHECK(inside_tensor(map, {95, 8, 0}));
  CHECK_FALSE(inside_tensor(map, {95, 8, 1}));
  map.size[0] = u64{1} << 40;
  CHECK(inside_tensor(map, {2147483647, 0, 0}));
}

TEST_CASE("tensor map: a box narrower than its swizzle is padded to it, in rows of the pattern") {
  TensorMapDescription map = box_of(TensorElement::bf16, SwizzleMode::b128);
  map.box[0] = 24;  // 48 bytes
  CHECK(box_row_pitch(map) == 128);
  CHECK(box_bytes(map) == 3 * 5 * 48);
  CHECK(box_extent(map) == 3 * 5 * 128);
  std::set<u32> seen;
  for (u32 z = 0; z < 3; ++z)
    for (u32 y = 0; y < 5; ++y)
      for (u32 x = 0; x < 24; ++x) {
        const u32 at = box_element_address(map, 0x480, x, y, z);
        REQUIRE(at / 128 == (0x480 + (5 * z + y) * 128) / 128);  // each row keeps to its own line
        seen.insert(at);
      }
  CHECK(seen.size() == 3 * 5 * 24);
  map.swizzle = SwizzleMode::none;
  CHECK(box_row_pitch(map) == 48);
  CHECK(box_extent(map) == box_bytes(map));
}

TEST_CASE("tensor map: the copies that fault") {
  const TensorMapDescription map = box_of(TensorElement::bf16, SwizzleMode::b128);
  const auto fault = [&](TensorCoordinate at, u32 address, bool store) {
    return copy_fault(map, at, address, store);
  };
  for (const bool store : {false, true}) {
    CHECK(fault({8, 1, 1}, 0x480, store) == CopyFault::none);
    CHECK(fault({2147483640, 0, 0}, 0x480, store) == CopyFault::none);
    CHECK(fault({8, 1, 1}, 0x4c0, store) == CopyFault::shared_address);
    CHECK(fault({4, 1, 1}, 0x480, store) == CopyFault::x);
    CHECK(fault({-4, 1, 1}, 0x480, store) == CopyFault::x);
    const CopyFault negative = store ? CopyFault::negative : CopyFault::none;
    CHECK(fault({-8, 1, 1}, 0x480, store) == negative);
    CHECK(fault({0, -1, 1}, 0x480, store) == negative);
    CHECK(fault({0, 1, -1}, 0x480, store) == negative);
  }
}
