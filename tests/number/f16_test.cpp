#include "emulator/number/f16.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/number/nearest_oracle.hpp"

using namespace fp8twin;

TEST_CASE("the corner values of binary16, computed by the compiler") {
  STATIC_REQUIRE(F16{0x7bff}.value() == 65504.0f);
  STATIC_REQUIRE(F16{0x0001}.value() == 0x1p-24f);
  STATIC_REQUIRE(F16{0x0400}.value() == 0x1p-14f);
  STATIC_REQUIRE(F16{0xbc00}.value() == -1.0f);
  STATIC_REQUIRE(f32_bits(F16{0x8000}.value()) == 0x80000000);
  STATIC_REQUIRE(f32_bits(F16{0x7c00}.value()) == 0x7f800000);
  STATIC_REQUIRE(F16::rn(65519.996f).code == 0x7bff);
  STATIC_REQUIRE(F16::rn(65520.0f).code == 0x7c00);  // the tie at the top goes to infinity
  STATIC_REQUIRE(F16::rn(-0.0f).code == 0x8000);
  STATIC_REQUIRE(F16::rn(0x1p-25f).code == 0x0000);
  STATIC_REQUIRE(F16::rn(f32_from_bits(0xffc00000)).code == 0x7fff);
}

TEST_CASE("all 65,536 words decode to their value and encode to themselves") {
  const auto& oracle = test::f16_oracle();
  for (std::uint32_t word = 0; word < 65536; ++word) {
    const F16 x{static_cast<std::uint16_t>(word)};
    const std::uint32_t magnitude = word & 0x7fff;
    if (magnitude > 0x7c00) {
      REQUIRE(is_nan(x.value()));
      REQUIRE(F16::rn(x.value()).code == 0x7fff);
      continue;
    }
    REQUIRE(F16::rn(x.value()) == x);
    REQUIRE(std::signbit(x.value()) == (word >= 0x8000));
    if (magnitude == 0x7c00) {
      REQUIRE(is_infinite(x.value()));
    } else {
      REQUIRE(static_cast<double>(std::fabs(x.value())) == oracle.value(magnitude));
    }
  }
}

TEST_CASE("on and beside every midpoint the rounding is to nearest even") {
  const auto& oracle = test::f16_oracle();
  for (std::uint32_t code = 0; code <= oracle.largest(); ++code) {
    const float middle = static_cast<float>(oracle.midpoint(code));
    for (const float x : {std::nextafterf(middle, 0.0f), middle,
                          std::nextafterf(middle, std::numeric_limits<float>::infinity())}) {
      REQUIRE(F16::rn(x).code == oracle.round(x));
      REQUIRE(F16::rn(-x).code == oracle.round(-x));
    }
  }
}
