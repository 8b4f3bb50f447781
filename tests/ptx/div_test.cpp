// div.rn: the exact quotient rounded once, over the whole range; subnormals; the one NaN.
#include "emulator/ptx/div.hpp"

#include <cmath>

#include "emulator/layout/integers.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("a quotient is the exact one rounded once") {
  u32 state = 11;
  const auto next = [&state] {
    state = state * 1664525 + 1013904223;
    return f32_from_bits(0x3f800000 + (state >> 9));  // 1 to 2
  };
  for (u32 i = 0; i < 20000; ++i) {
    const float a = next(), b = next();
    // 53 bits are more than twice 24 and two: rounding the double's quotient again is rounding once.
    REQUIRE(div_rn(a, b) == static_cast<float>(double{a} / double{b}));
  }
  CHECK(div_rn(1.0f, 3.0f) == 0x1.555556p-2f);
}

TEST_CASE("the ends of the range: subnormal results and operands, overflow, infinity, zero") {
  CHECK(div_rn(1.0f, 0x1p127f) == 0x1p-127f);
  CHECK(div_rn(0x1p-149f, 2.0f) == 0.0f);  // a tie, to even
  CHECK(div_rn(0x1.8p-148f, 2.0f) == 0x1p-148f);
  CHECK(div_rn(448.0f, 0x1p-149f) == INFINITY);
  CHECK(div_rn(0x1p-149f, 0x1p-149f) == 1.0f);
  CHECK(f32_bits(div_rn(-1.0f, INFINITY)) == 0x80000000u);
  CHECK(div_rn(1.0f, 0.0f) == INFINITY);
}

TEST_CASE("every NaN result is 0x7fffffff") {
  for (const u32 bits : {0x7f800001u, 0xffc12345u, 0xffffffffu, 0x7fc00000u}) {
    CHECK(f32_bits(div_rn(f32_from_bits(bits), 448.0f)) == 0x7fffffffu);
    CHECK(f32_bits(div_rn(1.0f, f32_from_bits(bits))) == 0x7fffffffu);
  }
  CHECK(f32_bits(div_rn(0.0f, 0.0f)) == 0x7fffffffu);
  CHECK(f32_bits(div_rn(INFINITY, -INFINITY)) == 0x7fffffffu);
}
