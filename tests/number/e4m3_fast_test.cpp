#include "emulator/number/e4m3_fast.hpp"

#include <cmath>
#include <limits>

#include "emulator/number/f16.hpp"
#include "tests/catch.hpp"
#include "tests/number/nearest_oracle.hpp"

using namespace fp8twin;

namespace {

/// What the cast makes of x, from the oracle's rounding and the rule in words.
std::uint32_t expected(float x, std::uint32_t largest, std::uint32_t nan) {
  if (std::isnan(x)) return nan;
  const std::uint32_t code = test::e4m3_oracle().round(x);
  return (code & 0x7f) > largest ? (code & 0x80) | largest : code;
}

void check(float x) {
  REQUIRE(encode_e4m3(x, cast_satfinite) == expected(x, 0x7e, 0x7f));
  REQUIRE(encode_e4m3(x, cast_nonsaturating) == expected(x, 0x7f, 0x7f));
  REQUIRE(encode_e4m3(x, cast_clamped) == expected(x, 0x7e, 0xfe));
}

}  // namespace

TEST_CASE("the corner values, computed by the compiler") {
  STATIC_REQUIRE(encode_e4m3(464.0f, cast_satfinite) == 0x7e);
  STATIC_REQUIRE(encode_e4m3(464.00003f, cast_satfinite) == 0x7e);
  STATIC_REQUIRE(encode_e4m3(464.00003f, cast_nonsaturating) == 0x7f);
  STATIC_REQUIRE(encode_e4m3(-464.00003f, cast_nonsaturating) == 0xff);
  STATIC_REQUIRE(encode_e4m3(-0.0f, cast_satfinite) == 0x80);
  STATIC_REQUIRE(encode_e4m3(0x1p-10f, cast_satfinite) == 0x00);
  STATIC_REQUIRE(encode_e4m3(0.0009765626f, cast_satfinite) == 0x01);
  STATIC_REQUIRE(encode_e4m3(1.0625f, cast_satfinite) == 0x38);
  STATIC_REQUIRE(encode_e4m3(f32_from_bits(0xffc00000), cast_satfinite) == 0x7f);
  STATIC_REQUIRE(encode_e4m3(f32_from_bits(0x7fc00000), cast_clamped) == 0xfe);  // fmaxf(NaN, -448) is -448
}

TEST_CASE("all BF16 and F16 values agree with the oracle under every cast") {
  for (std::uint32_t word = 0; word < 65536; ++word) {
    check(f32_from_bits(word << 16));
    check(F16{static_cast<std::uint16_t>(word)}.value());
  }
}

TEST_CASE("on and beside every midpoint") {
  const auto& oracle = test::e4m3_oracle();
  for (std::uint32_t code = 0; code <= oracle.largest(); ++code) {
    const float middle = static_cast<float>(oracle.midpoint(code));
    for (const float x : {std::nextafterf(middle, 0.0f), middle, std::nextafterf(middle, 1e9f)}) {
      check(x);
      check(-x);
    }
  }
}
