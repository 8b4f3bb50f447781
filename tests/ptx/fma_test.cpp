// fma.rn, mul.rn, add.rn: one rounding each, against exact sums in double precision; subnormals; the one NaN.
#include "emulator/ptx/fma.hpp"

#include <cmath>

#include "emulator/layout/integers.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("fma rounds once where a multiply and an add round twice") {
  const float a = 1.0f + 0x1p-12f;
  CHECK(fma_rn(a, a, -1.0f) == 0x1p-11f + 0x1p-24f);
  CHECK(add_rn(mul_rn(a, a), -1.0f) == 0x1p-11f);
}

TEST_CASE("each is the exact result rounded once") {
  u32 state = 5;
  const auto next = [&state] {
    state = state * 1664525 + 1013904223;
    return static_cast<float>(static_cast<i32>(state) >> 8) *
           0x1p-12f;  // 24 bits: products are exact in a double
  };
  for (u32 i = 0; i < 20000; ++i) {
    const float a = next(), b = next();
    REQUIRE(mul_rn(a, b) == static_cast<float>(double{a} * double{b}));
    REQUIRE(add_rn(a, b) == static_cast<float>(double{a} + double{b}));
    const float c = mul_rn(a, b);
    REQUIRE(fma_rn(a, b, -c) == static_cast<float>(double{a} * double{b} - double{c}));  // the rounding error
  }
}

TEST_CASE("subnormals are kept, and every NaN result is 0x7fffffff") {
  CHECK(mul_rn(0x1p-126f, 0.5f) == 0x1p-127f);
  CHECK(add_rn(0x1p-149f, 0x1p-149f) == 0x1p-148f);
  CHECK(fma_rn(0x1p-100f, 0x1p-49f, 0.0f) == 0x1p-149f);
  for (const u32 bits : {0x7f800001u, 0xffc12345u, 0xffffffffu, 0x7fc00000u}) {
    const float nan = f32_from_bits(bits);
    CHECK(f32_bits(mul_rn(nan, 1.0f)) == 0x7fffffffu);
    CHECK(f32_bits(add_rn(1.0f, nan)) == 0x7fffffffu);
    CHECK(f32_bits(fma_rn(1.0f, 1.0f, nan)) == 0x7fffffffu);
  }
  CHECK(f32_bits(mul_rn(0.0f, INFINITY)) == 0x7fffffffu);
  CHECK(f32_bits(add_rn(INFINITY, -INFINITY)) == 0x7fffffffu);
}
