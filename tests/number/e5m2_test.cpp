#include "emulator/number/e5m2.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/number/nearest_oracle.hpp"

using namespace fp8twin;

namespace {
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::uint8_t sat(float x) { return E5M2::satfinite(x).code; }
constexpr std::uint8_t nosat(float x) { return E5M2::nonsaturating(x).code; }
}  // namespace

TEST_CASE("the corner values of cvt.rn.satfinite.e5m2x2.f32, computed by the compiler") {
  STATIC_REQUIRE(sat(57344.0f) == 0x7b);
  STATIC_REQUIRE(sat(61439.996f) == 0x7b);
  STATIC_REQUIRE(sat(61440.0f) == 0x7b);  // the tie would go to the even code, which is infinity: saturated
  STATIC_REQUIRE(sat(infinity) == 0x7b);
  STATIC_REQUIRE(sat(-infinity) == 0xfb);
  STATIC_REQUIRE(sat(-0.0f) == 0x80);
  STATIC_REQUIRE(sat(0x1p-17f) == 0x00);  // half the smallest subnormal
  STATIC_REQUIRE(sat(0x1.000002p-17f) == 0x01);
  STATIC_REQUIRE(sat(1.125f) == 0x3c);  // tie between 1 and 1.25
  STATIC_REQUIRE(sat(1.375f) == 0x3e);  // tie between 1.25 and 1.5
  STATIC_REQUIRE(sat(f32_from_bits(0xffc00000)) == 0x7f);
}

TEST_CASE("the plain cast overflows to infinity from the tie at 61440 on") {
  STATIC_REQUIRE(nosat(61439.996f) == 0x7b);
  STATIC_REQUIRE(nosat(61440.0f) == 0x7c);
  STATIC_REQUIRE(nosat(-61440.0f) == 0xfc);
  STATIC_REQUIRE(nosat(infinity) == 0x7c);
  STATIC_REQUIRE(nosat(f32_from_bits(0xffc00000)) == 0x7f);
  STATIC_REQUIRE(E5M2::nonsaturating(f32_from_bits(0xffc00000), NanSign::keep).code == 0xff);
}

TEST_CASE("each of the 256 codes has its value, and its value has that code") {
  for (int code = 0; code < 256; ++code) {
    const E5M2 x{static_cast<std::uint8_t>(code)};
    const std::uint32_t magnitude = static_cast<std::uint32_t>(code) & 0x7f;
    CHECK(x.is_infinite() == (magnitude == 0x7c));
    CHECK(x.is_nan() == (magnitude > 0x7c));
    if (x.is_nan()) {
      CHECK(is_nan(x.value()));
      continue;
    }
    CHECK(std::signbit(x.value()) == (code >= 128));
    CHECK(E5M2::nonsaturating(x.value()) == x);
    if (x.is_infinite()) {
      CHECK(is_infinite(x.value()));
      continue;
    }
    CHECK(static_cast<double>(std::fabs(x.value())) == test::e5m2_oracle().value(magnitude));
    CHECK(E5M2::satfinite(x.value()) == x);
  }
}

TEST_CASE("all BF16 words encode as the oracle says") {
  const auto& oracle = test::e5m2_oracle();
  for (std::uint32_t word = 0; word < 65536; ++word) {
    const float x = f32_from_bits(word << 16);
    if (is_nan(x)) continue;
    const std::uint32_t code = oracle.round(x);
    const bool overflow = (code & 0x7f) > oracle.largest();
    REQUIRE(E5M2::nonsaturating(x).code == code);
    REQUIRE(E5M2::satfinite(x).code == (overflow ? code - 1 : code));
  }
}
