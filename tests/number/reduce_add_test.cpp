// Each part of the rule by one case; all that the card showed is replayed in tests/golden/reduce_test.cpp.
#include "emulator/number/reduce_add.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {
constexpr std::uint32_t sum(std::uint32_t memory, std::uint32_t value) {
  return f32_bits(reduce_add(f32_from_bits(memory), f32_from_bits(value)));
}
}  // namespace

TEST_CASE("one rounding, to nearest even") {
  STATIC_REQUIRE(sum(0x3f800000, 0x33800000) == 0x3f800000);  // 1 + 2^-24: the tie goes to the even one
  STATIC_REQUIRE(sum(0x3f800001, 0x33800000) == 0x3f800002);
  STATIC_REQUIRE(sum(0x3f800000, 0x33800001) == 0x3f800001);
  CHECK(sum(0x7f7fffff, 0x73000000) == 0x7f800000);  // half a step above the largest number: infinity
  STATIC_REQUIRE(sum(0x7f7fffff, 0x72ffffff) == 0x7f7fffff);
}

TEST_CASE("subnormals are kept: in memory, added, and as the sum") {
  STATIC_REQUIRE(sum(0x00000001, 0x00000001) == 0x00000002);
  STATIC_REQUIRE(sum(0x007fffff, 0x00000001) == 0x00800000);
  STATIC_REQUIRE(sum(0x00800000, 0x80000001) == 0x007fffff);
  STATIC_REQUIRE(sum(0x00800001, 0x80800000) == 0x00000001);
}

TEST_CASE("zeros, infinities and the one NaN") {
  STATIC_REQUIRE(sum(0x80000000, 0x80000000) == 0x80000000);
  STATIC_REQUIRE(sum(0x80000000, 0x00000000) == 0x00000000);
  STATIC_REQUIRE(sum(0xbf800000, 0x3f800000) == 0x00000000);
  STATIC_REQUIRE(sum(0xff800000, 0x7f7fffff) == 0xff800000);
  CHECK(sum(0x7f800000, 0xff800000) == 0x7fffffff);
  for (const std::uint32_t nan : {0x7f800001u, 0xff800001u, 0x7fc00000u, 0xffc12345u}) {
    CHECK(sum(nan, 0x3f800000) == 0x7fffffff);
    CHECK(sum(0x3f800000, nan) == 0x7fffffff);
    CHECK(sum(nan, nan) == 0x7fffffff);
  }
}
