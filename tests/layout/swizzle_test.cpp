// The swizzle as properties of every address of shared memory: an involution that stays in its row's chunk bits.
#include "emulator/layout/swizzle.hpp"

#include <array>
#include <set>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

constexpr std::array modes = {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};
constexpr u32 shared_end = 228 * 1024;

}  // namespace

TEST_CASE("swizzle: the example of the command page") {
  STATIC_REQUIRE(swizzle(SwizzleMode::b128, 0x480) == 0x490);
}

TEST_CASE("swizzle: the modes by their definition, bit by bit") {
  for (u32 address = 0; address < shared_end; ++address) {
    const auto bit = [&](u32 i) { return address >> i & 1; };
    u32 b32 = address, b64 = address, b128 = address;
    if (bit(7)) b32 ^= 1u << 4, b64 ^= 1u << 4, b128 ^= 1u << 4;
    if (bit(8)) b64 ^= 1u << 5, b128 ^= 1u << 5;
    if (bit(9)) b128 ^= 1u << 6;
    REQUIRE(swizzle(SwizzleMode::none, address) == address);
    REQUIRE(swizzle(SwizzleMode::b32, address) == b32);
    REQUIRE(swizzle(SwizzleMode::b64, address) == b64);
    REQUIRE(swizzle(SwizzleMode::b128, address) == b128);
  }
}

TEST_CASE(
    "swizzle: applied twice it is nothing, and no byte leaves its row of the pattern or its chunk's bytes") {
  for (const SwizzleMode mode : modes) {
    const u32 width = swizzle_width(mode);
    for (u32 address = 0; address < shared_end; ++address) {
      const u32 there = swizzle(mode, address);
      REQUIRE(swizzle(mode, there) == address);
      REQUIRE(there / width == address / width);
      REQUIRE(there % 16 == address % 16);
      // The pattern comes back after its period.
      REQUIRE(swizzle(mode, address + swizzle_period(mode)) == there + swizzle_period(mode));
    }
  }
}

TEST_CASE("swizzle: a chunk of eight rows meets as many bank groups as the mode is wide") {
  // Rows of `width` bytes one after the other; a bank group is 16 of the 128 bytes that all banks give at once.
  for (const SwizzleMode mode : {SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128}) {
    for (u32 chunk = 0; chunk < swizzle_width(mode) / 16; ++chunk) {
      std::set<u32> groups;
      for (u32 row = 0; row < 8; ++row)
        groups.insert(swizzle(mode, row * swizzle_width(mode) + 16 * chunk) / 16 % 8);
      CHECK(groups.size() == 8);
    }
  }
  std::set<u32> unswizzled;
  for (u32 row = 0; row < 8; ++row) unswizzled.insert(swizzle(SwizzleMode::none, row * 128) / 16 % 8);
  CHECK(unswizzled.size() == 1);
}
