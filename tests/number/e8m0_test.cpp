#include "emulator/number/e8m0.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {
constexpr std::uint8_t up(float x) { return E8M0::round_up(x).code; }
}  // namespace

TEST_CASE("a code is an exponent, and 255 is NaN") {
  for (int code = 0; code < 255; ++code) {
    const E8M0 x{static_cast<std::uint8_t>(code)};
    CHECK(static_cast<double>(x.value()) == std::ldexp(1.0, code - 127));
    CHECK(!x.is_nan());
  }
  STATIC_REQUIRE(E8M0{255}.is_nan());
  STATIC_REQUIRE(f32_bits(E8M0{255}.value()) == 0x7fffffff);
  STATIC_REQUIRE(f32_bits(E8M0{0}.value()) == 0x00400000);  // 2^-127 is a subnormal binary32
}

TEST_CASE("the scale bytes of amax 448, 449, 224 and 4.8046875") {
  STATIC_REQUIRE(up(448.0f / 448.0f) == 0x7f);
  STATIC_REQUIRE(up(449.0f / 448.0f) == 0x80);
  STATIC_REQUIRE(up(224.0f / 448.0f) == 0x7e);
  STATIC_REQUIRE(up(4.8046875f / 448.0f) == 0x79);
}

TEST_CASE("rounding up finds the smallest power of two that is not smaller") {
  for (int e = -126; e <= 127; ++e) {
    const float power = power_of_two(e);
    const auto code = static_cast<std::uint8_t>(e + 127);
    CHECK(up(power) == code);
    CHECK(up(std::nextafterf(power, 0.0f)) == (e == -126 ? 1 : code));
    CHECK(up(std::nextafterf(power, std::numeric_limits<float>::infinity())) == (e == 127 ? 254 : code + 1));
  }
}

TEST_CASE("the ends: zero and subnormals give 2^-126, nothing exceeds 2^127, what is not finite gives NaN") {
  STATIC_REQUIRE(up(0.0f) == 1);
  STATIC_REQUIRE(up(0x1p-149f) == 1);
  STATIC_REQUIRE(up(0x1p-127f) == 1);
  STATIC_REQUIRE(up(std::numeric_limits<float>::max()) == 254);
  STATIC_REQUIRE(up(std::numeric_limits<float>::infinity()) == 0xff);
  STATIC_REQUIRE(up(f32_from_bits(0x7fffffff)) == 0xff);
}
