#include "emulator/number/float_bits.hpp"

#include <limits>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
}  // namespace

TEST_CASE("bits and floats are two views of one word") {
  STATIC_REQUIRE(f32_bits(1.0f) == 0x3f800000);
  STATIC_REQUIRE(f32_bits(-0.0f) == 0x80000000);
  STATIC_REQUIRE(f32_from_bits(0x00000001) == std::numeric_limits<float>::denorm_min());
  STATIC_REQUIRE(f32_from_bits(0x7f7fffff) == std::numeric_limits<float>::max());
}

TEST_CASE("NaN and infinity are told apart at their edges") {
  STATIC_REQUIRE(!is_nan(f32_from_bits(0x7f800000)));
  STATIC_REQUIRE(is_nan(f32_from_bits(0x7f800001)));  // the smallest payload, a signalling NaN
  STATIC_REQUIRE(is_nan(f32_from_bits(0xffffffff)));
  STATIC_REQUIRE(is_infinite(infinity));
  STATIC_REQUIRE(is_infinite(-infinity));
  STATIC_REQUIRE(!is_infinite(f32_from_bits(0x7f7fffff)));
  STATIC_REQUIRE(!is_infinite(quiet_nan));
}

TEST_CASE("every NaN becomes SM90's one NaN, and nothing else changes") {
  for (const std::uint32_t nan :
       {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffc00000u, 0xffffffffu}) {
    CHECK(f32_bits(canonical(f32_from_bits(nan))) == 0x7fffffff);
  }
  for (const std::uint32_t word : {0u, 0x80000000u, 1u, 0x3f800000u, 0x7f7fffffu, 0x7f800000u, 0xff800000u}) {
    CHECK(f32_bits(canonical(f32_from_bits(word))) == word);
  }
}

TEST_CASE("power_of_two is exact over all of binary32, subnormals included") {
  for (int e = -149; e <= 127; ++e) CHECK(static_cast<double>(power_of_two(e)) == std::ldexp(1.0, e));
}

TEST_CASE("mul_rn, add_rn and fma_rn round once and give the canonical NaN") {
  CHECK(f32_bits(mul_rn(infinity, 0.0f)) == 0x7fffffff);
  CHECK(f32_bits(add_rn(infinity, -infinity)) == 0x7fffffff);
  CHECK(f32_bits(fma_rn(infinity, 0.0f, 1.0f)) == 0x7fffffff);
  CHECK(f32_bits(mul_rn(f32_from_bits(0xffc12345), 1.0f)) == 0x7fffffff);

  // (1 + u)^2 - (1 + 2u) with u = 2^-23: the exact square is 1 + 2u + u^2. One rounding keeps u^2, two lose
  // it.
  const float u = power_of_two(-23);
  const float x = 1.0f + u;
  CHECK(fma_rn(x, x, -(1.0f + 2 * u)) == u * u);
  CHECK(add_rn(mul_rn(x, x), -(1.0f + 2 * u)) == 0.0f);

  // Subnormal results are kept.
  CHECK(f32_bits(mul_rn(power_of_two(-126), 0.5f)) == 0x00400000);
  CHECK(f32_bits(mul_rn(power_of_two(-149), 0.5f)) == 0);  // the tie goes to even
}
