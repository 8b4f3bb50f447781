#include "emulator/number/e4m3.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/number/nearest_oracle.hpp"

using namespace fp8twin;

namespace {
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::uint8_t sat(float x) { return E4M3::satfinite(x).code; }
constexpr std::uint8_t nosat(float x) { return E4M3::nonsaturating(x).code; }
constexpr float nan_of(std::uint32_t bits) { return f32_from_bits(bits); }
}  // namespace

TEST_CASE("the corner values of cvt.rn.satfinite.e4m3x2.f32, computed by the compiler") {
  STATIC_REQUIRE(sat(464.0f) == 0x7e);      // the tie between 448 and 480 goes to the even code
  STATIC_REQUIRE(sat(464.00003f) == 0x7e);  // beyond it: saturated
  STATIC_REQUIRE(sat(infinity) == 0x7e);
  STATIC_REQUIRE(sat(-infinity) == 0xfe);
  STATIC_REQUIRE(sat(3.4028235e38f) == 0x7e);
  STATIC_REQUIRE(sat(0.0f) == 0x00);
  STATIC_REQUIRE(sat(-0.0f) == 0x80);
  STATIC_REQUIRE(sat(0x1p-10f) == 0x00);  // half the smallest subnormal: tie to zero
  STATIC_REQUIRE(sat(-0x1p-10f) == 0x80);
  STATIC_REQUIRE(sat(0.0009765626f) == 0x01);  // one binary32 step above it
  STATIC_REQUIRE(sat(0x1.8p-9f) == 0x02);      // tie between subnormals 1 and 2
  STATIC_REQUIRE(sat(0x1p-149f) == 0x00);
  STATIC_REQUIRE(sat(1.0625f) == 0x38);    // tie between 1 and 1.125
  STATIC_REQUIRE(sat(1.1875f) == 0x3a);    // tie between 1.125 and 1.25
  STATIC_REQUIRE(sat(0x1.ep-7f) == 0x08);  // carries from the subnormals into the smallest normal
  STATIC_REQUIRE(sat(1.96875f) == 0x40);   // carries into the exponent
}

TEST_CASE("beyond the tie at 464 the plain cast gives NaN with the sign of x") {
  STATIC_REQUIRE(nosat(448.0f) == 0x7e);
  STATIC_REQUIRE(nosat(464.0f) == 0x7e);
  STATIC_REQUIRE(nosat(464.00003f) == 0x7f);
  STATIC_REQUIRE(nosat(-464.00003f) == 0xff);
  STATIC_REQUIRE(nosat(infinity) == 0x7f);
  STATIC_REQUIRE(nosat(-infinity) == 0xff);
}

TEST_CASE("every NaN gives 0x7f; frameworks' casts keep its sign") {
  STATIC_REQUIRE(sat(nan_of(0x7f800001)) == 0x7f);
  STATIC_REQUIRE(sat(nan_of(0x7fffffff)) == 0x7f);
  STATIC_REQUIRE(sat(nan_of(0xff800001)) == 0x7f);
  STATIC_REQUIRE(sat(nan_of(0xffffffff)) == 0x7f);
  STATIC_REQUIRE(nosat(nan_of(0xffc00000)) == 0x7f);
  STATIC_REQUIRE(E4M3::nonsaturating(nan_of(0xffc00000), NanSign::keep).code == 0xff);
  STATIC_REQUIRE(E4M3::nonsaturating(nan_of(0x7fc00000), NanSign::keep).code == 0x7f);
}

TEST_CASE("each of the 256 codes has its value, and its value has that code") {
  for (int code = 0; code < 256; ++code) {
    const E4M3 x{static_cast<std::uint8_t>(code)};
    const std::uint32_t magnitude = static_cast<std::uint32_t>(code) & 0x7f;
    CHECK(x.is_nan() == (magnitude == 0x7f));
    CHECK(x.is_zero() == (magnitude == 0));
    CHECK(x.is_negative() == (code >= 128));
    if (x.is_nan()) {
      CHECK(is_nan(x.value()));
      continue;
    }
    CHECK(std::signbit(x.value()) == (code >= 128));
    CHECK(static_cast<double>(std::fabs(x.value())) == test::e4m3_oracle().value(magnitude));
    CHECK(E4M3::satfinite(x.value()) == x);
    CHECK(E4M3::nonsaturating(x.value()) == x);
  }
}

TEST_CASE("significand and exponent are the value, not renormalised") {
  for (int code = 0; code < 256; ++code) {
    const E4M3 x{static_cast<std::uint8_t>(code)};
    if (x.is_nan()) continue;
    CHECK(std::ldexp(x.significand(), x.exponent() - 3) == std::fabs(static_cast<double>(x.value())));
    CHECK(x.significand() <= 15);
    CHECK(x.exponent() >= -6);
    CHECK((x.significand() >= 8 || x.exponent() == -6));
  }
  STATIC_REQUIRE(E4M3{0x01}.significand() == 1);  // the smallest subnormal stays 1 * 2^(-6-3)
  STATIC_REQUIRE(E4M3{0x01}.exponent() == -6);
  STATIC_REQUIRE(E4M3{0x7e}.significand() == 14);  // 448 = 14 * 2^(8-3)
  STATIC_REQUIRE(E4M3{0x7e}.exponent() == 8);
}

TEST_CASE("all BF16 words, the inputs of quantisation, encode as the oracle says") {
  const auto& oracle = test::e4m3_oracle();
  for (std::uint32_t word = 0; word < 65536; ++word) {
    const float x = f32_from_bits(word << 16);
    if (is_nan(x)) {
      REQUIRE(E4M3::satfinite(x).code == 0x7f);
      continue;
    }
    const std::uint32_t code = oracle.round(x);
    const bool overflow = (code & 0x7f) > oracle.largest();
    REQUIRE(E4M3::nonsaturating(x).code == code);
    REQUIRE(E4M3::satfinite(x).code == (overflow ? code - 1 : code));
  }
}
