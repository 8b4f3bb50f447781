#include "emulator/number/bf16.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/number/nearest_oracle.hpp"

using namespace fp8twin;

namespace {
constexpr std::uint16_t rn(std::uint32_t bits) { return BF16::rn(f32_from_bits(bits)).code; }
}  // namespace

TEST_CASE("the corner values of cvt.rn.bf16.f32, computed by the compiler") {
  STATIC_REQUIRE(rn(0x3f808000) == 0x3f80);  // tie, to the even word
  STATIC_REQUIRE(rn(0x3f808001) == 0x3f81);
  STATIC_REQUIRE(rn(0x3f818000) == 0x3f82);  // tie, up to the even word
  STATIC_REQUIRE(rn(0x7f7f7fff) == 0x7f7f);
  STATIC_REQUIRE(rn(0x7f7f8000) == 0x7f80);  // the tie at the top goes to infinity
  STATIC_REQUIRE(rn(0xff7fffff) == 0xff80);
  STATIC_REQUIRE(rn(0x00008000) == 0x0000);  // half the smallest subnormal
  STATIC_REQUIRE(rn(0x00008001) == 0x0001);
  STATIC_REQUIRE(rn(0x007f8000) == 0x0080);  // carries from the subnormals into the smallest normal
  STATIC_REQUIRE(rn(0x80000000) == 0x8000);
}

TEST_CASE("every NaN gives 0x7fff") {
  STATIC_REQUIRE(rn(0x7f800001) == 0x7fff);  // payload in the low bits only: truncation would give infinity
  STATIC_REQUIRE(rn(0x7fc00000) == 0x7fff);
  STATIC_REQUIRE(rn(0xff800001) == 0x7fff);
  STATIC_REQUIRE(rn(0xffffffff) == 0x7fff);
}

TEST_CASE("all 65,536 words decode to their value and encode to themselves") {
  const auto& oracle = test::bf16_oracle();
  for (std::uint32_t word = 0; word < 65536; ++word) {
    const BF16 x{static_cast<std::uint16_t>(word)};
    const std::uint32_t magnitude = word & 0x7fff;
    REQUIRE(x.is_nan() == (magnitude > 0x7f80));
    REQUIRE(f32_bits(x.value()) == word << 16);
    if (x.is_nan()) {
      REQUIRE(BF16::rn(x.value()).code == 0x7fff);
      continue;
    }
    REQUIRE(BF16::rn(x.value()) == x);
    if (magnitude <= oracle.largest()) {
      REQUIRE(static_cast<double>(std::fabs(x.value())) == oracle.value(magnitude));
    }
  }
}

TEST_CASE("on and beside every midpoint the rounding is to nearest even") {
  const auto& oracle = test::bf16_oracle();
  for (std::uint32_t code = 0; code <= oracle.largest(); ++code) {
    const float middle = static_cast<float>(oracle.midpoint(code));
    for (const float x : {std::nextafterf(middle, 0.0f), middle,
                          std::nextafterf(middle, std::numeric_limits<float>::infinity())}) {
      REQUIRE(BF16::rn(x).code == oracle.round(x));
      REQUIRE(BF16::rn(-x).code == oracle.round(-x));
    }
  }
}
