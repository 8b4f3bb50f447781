// cvt by its names: which operand goes to which half, over every code of each format and over values between them. The rounding
// itself is tested in tests/number, and over all inputs against the card in tests/golden.
#include "emulator/ptx/cvt.hpp"

#include <cmath>
#include <vector>

#include "emulator/number/float_bits.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

/// Nearest even to BF16 on the bits, by adding half a unit and the parity of the bit that stays.
u16 bf16_by_bits(float x) {
  const u32 bits = f32_bits(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<u16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::vector<float> values() {
  std::vector<float> all = {0.0f,     -0.0f,    1.0f,  448.0f, 464.0f,   465.0f,
                            57344.0f, 61440.0f, 1e30f, -1e30f, 0x1p-149f};
  for (const u32 bits : {0x7f800000u, 0xff800000u, 0x7fffffffu, 0xffc00001u, 0x7f800001u, 0x7f7fffffu})
    all.push_back(f32_from_bits(bits));
  u32 state = 99;
  for (u32 i = 0; i < 3000; ++i) {
    state = state * 1664525 + 1013904223;
    all.push_back(f32_from_bits(state));
    all.push_back(
        std::ldexp(1.0f + static_cast<float>(state >> 12) * 0x1p-20f, static_cast<int>(state % 40) - 20));
  }
  return all;
}

}  // namespace

TEST_CASE("cvt.rn.bf16.f32 and cvt.rn.bf16x2.f32: the first operand in the upper half") {
  const std::vector<float> all = values();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float upper = all[i], lower = all[all.size() - 1 - i];
    INFO(f32_bits(upper) << " " << f32_bits(lower));
    REQUIRE(cvt_rn_bf16_f32(upper) == bf16_by_bits(upper));
    REQUIRE(cvt_rn_bf16x2_f32(upper, lower) == (u32{bf16_by_bits(upper)} << 16 | bf16_by_bits(lower)));
  }
}

TEST_CASE("every E4M3 code comes back through cvt.rn.satfinite.e4m3x2, from either half") {
  for (u32 code = 0; code < 256; ++code) {
    if ((code & 0x7f) == 0x7f) continue;
    const float x = E4M3{static_cast<u8>(code)}.value();
    CHECK(cvt_rn_satfinite_e4m3x2_f32(x, 1.0f) == (code << 8 | 0x38));
    CHECK(cvt_rn_satfinite_e4m3x2_f32(1.0f, x) == (0x3800 | code));
  }
  CHECK(cvt_rn_satfinite_e4m3x2_f32(1e9f, -1e9f) == 0x7efe);  // the largest, not a NaN
  CHECK(cvt_rn_satfinite_e4m3x2_f32(f32_from_bits(0xffc00000u), INFINITY) == 0x7f7e);  // a NaN is 0x7f
  CHECK(cvt_rn_satfinite_e4m3x2_f32(17.0f, 19.0f) == (0x58 << 8 | 0x5a));              // ties to even: 16, 20
}

TEST_CASE("every finite E5M2 code comes back through cvt.rn.satfinite.e5m2x2, from either half") {
  for (u32 code = 0; code < 256; ++code) {
    if ((code & 0x7f) >= 0x7c) continue;
    const float x = E5M2{static_cast<u8>(code)}.value();
    CHECK(cvt_rn_satfinite_e5m2x2_f32(x, 1.0f) == (code << 8 | 0x3c));
    CHECK(cvt_rn_satfinite_e5m2x2_f32(1.0f, x) == (0x3c00 | code));
  }
  CHECK(cvt_rn_satfinite_e5m2x2_f32(1e9f, -INFINITY) == 0x7bfb);
}

TEST_CASE("cvt.f32.f16 is exact: every binary16 code") {
  for (u32 code = 0; code < 0x10000; ++code) {
    const u32 exponent = code >> 10 & 31, fraction = code & 0x3ff;
    const float x = cvt_f32_f16(static_cast<u16>(code));
    if (exponent == 31 && fraction != 0) {
      REQUIRE(f32_bits(x) == f32_canonical_nan);
      continue;
    }
    const float size = exponent == 31  ? INFINITY
                       : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                       : std::ldexp(1.0f + static_cast<float>(fraction) * 0x1p-10f,
                                                    static_cast<int>(exponent) - 15);
    REQUIRE(f32_bits(x) == f32_bits(code & 0x8000 ? -size : size));
  }
}
