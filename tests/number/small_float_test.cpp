#include "emulator/number/small_float.hpp"

#include <limits>
#include <utility>

#include "tests/catch.hpp"
#include "tests/number/nearest_oracle.hpp"

using namespace fp8twin;

namespace {

struct Pair {
  const char* name;
  FloatFormat format;
  const test::NearestOracle& oracle;
};

const Pair pairs[] = {{"e4m3", e4m3_format, test::e4m3_oracle()},
                      {"e5m2", e5m2_format, test::e5m2_oracle()},
                      {"f16", f16_format, test::f16_oracle()},
                      {"bf16", bf16_format, test::bf16_oracle()}};

}  // namespace

TEST_CASE("decode gives the value of every finite code, of both signs") {
  for (const auto& [name, format, oracle] : pairs) {
    INFO(name);
    for (std::uint32_t magnitude = 0; magnitude <= format.largest_finite; ++magnitude) {
      const float plus = decode(format, magnitude), minus = decode(format, magnitude | format.sign());
      REQUIRE(static_cast<double>(plus) == oracle.value(magnitude));
      REQUIRE(f32_bits(minus) == (f32_bits(plus) | f32_sign));
    }
  }
}

TEST_CASE("magnitude codes beyond the largest finite are infinity, where there is one, then NaN") {
  for (const auto& [name, format, oracle] : pairs) {
    INFO(name);
    for (std::uint32_t magnitude = format.largest_finite + 1; magnitude < format.sign(); ++magnitude) {
      const bool infinite = format.has_infinity && magnitude == format.largest_finite + 1;
      REQUIRE(f32_bits(decode(format, magnitude)) == (infinite ? 0x7f800000u : 0x7fffffffu));
      REQUIRE(f32_bits(decode(format, magnitude | format.sign())) == (infinite ? 0xff800000u : 0xffffffffu));
    }
  }
}

TEST_CASE("round_magnitude goes to nearest even on, just below and just above every midpoint") {
  for (const auto& [name, format, oracle] : pairs) {
    INFO(name);
    for (std::uint32_t code = 0; code <= format.largest_finite; ++code) {
      const float middle = static_cast<float>(oracle.midpoint(code));
      REQUIRE(static_cast<double>(middle) == oracle.midpoint(code));  // exact, or this test tests nothing
      const float below = std::nextafterf(middle, 0.0f);
      const float above = std::nextafterf(middle, std::numeric_limits<float>::infinity());
      for (const float x : {below, middle, above}) REQUIRE(round_magnitude(format, x) == oracle.round(x));
      REQUIRE(round_magnitude(format, below) == code);
      REQUIRE(round_magnitude(format, middle) == code + code % 2);
      REQUIRE(round_magnitude(format, above) == code + 1);
    }
  }
}

TEST_CASE("round_magnitude finds every value itself and sends infinity beyond everything") {
  for (const auto& [name, format, oracle] : pairs) {
    INFO(name);
    for (std::uint32_t code = 0; code <= format.largest_finite; ++code) {
      REQUIRE(round_magnitude(format, static_cast<float>(oracle.value(code))) == code);
      REQUIRE(round_magnitude(format, -static_cast<float>(oracle.value(code))) == code);
    }
    CHECK(round_magnitude(format, std::numeric_limits<float>::infinity()) > format.largest_finite);
    CHECK(round_magnitude(format, -std::numeric_limits<float>::infinity()) > format.largest_finite);
    CHECK(round_magnitude(format, 0.0f) == 0);
  }
}
