// The tensor core's sum on inputs chosen so that each rule, and only it, decides the result.
//
// The expected bits follow from the rules as docs/numerics.md states them, worked out by hand; that the rules are the
// hardware's is what tests/golden proves.
#include "emulator/number/tensor_core.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "emulator/number/e4m3.hpp"
#include "emulator/number/float_bits.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

using Pairs = std::vector<std::pair<float, float>>;

/// The bits of the dot product of `pairs` (0 x 0 for the rest) plus the float whose bits are c.
std::uint32_t bits_of(const Pairs& pairs, std::uint32_t c = 0, const TensorCore& core = sm90) {
  std::array<std::uint8_t, 32> a{}, b{};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    a[i] = E4M3::satfinite(pairs[i].first).code;
    b[i] = E4M3::satfinite(pairs[i].second).code;
    REQUIRE(E4M3{a[i]}.value() == pairs[i].first);
    REQUIRE(E4M3{b[i]}.value() == pairs[i].second);
  }
  return f32_bits(dot(core, a.data(), b.data(), f32_from_bits(c)));
}

Pairs with_many(Pairs first, int count, float x, float y) {
  first.insert(first.end(), static_cast<std::size_t>(count), {x, y});
  return first;
}

}  // namespace

TEST_CASE("terms below 2^(E-13) are cut, toward zero on their magnitude") {
  CHECK(bits_of(with_many({{448, 448}}, 31, 2, 2)) == 0x48440000);   // every 4 lies below the unit 8
  CHECK(bits_of(with_many({{448, 448}}, 31, -2, 2)) == 0x48440000);  // floor would give 200448
  CHECK(bits_of({{448, 448}, {-448, 448}, {2, 2}}) == 0x00000000);
}

TEST_CASE("the sum keeps what the terms kept, and is then cut itself") {
  CHECK(bits_of(with_many({{448, 448}}, 31, 2, 4)) == 0x48443c00);  // exact 200952, cut to 200944
}

TEST_CASE("C takes part like a product: it is cut, and it can set E") {
  CHECK(bits_of({}, 0x3f8003ff) == 0x3f800000);
  CHECK(bits_of({}, 0x3f800400) == 0x3f800400);
  CHECK(bits_of({}, 0xbf8007ff) == 0xbf800400);
  CHECK(bits_of({{1, 1}}, 0x49800000) == 0x49800000);          // 2^20 + 1
  CHECK(bits_of({{128, 1}}, 0x49800000) == 0x49800400);        // 2^20 + 2^7
  CHECK(bits_of({{1, 1}}, 0x39000000) == 0x3f800400);          // 1 + 2^-13
  CHECK(bits_of({{1, 1}}, 0x38800000) == 0x3f800000);          // 1 + 2^-14
  CHECK(bits_of({{1.125, 1.125}}, 0xbf800001) == 0x3e880000);  // C loses its last bit before the subtraction
}

TEST_CASE("the exponent of a product is that of its factors, not of its value") {
  CHECK(bits_of({{1.875, 1.875}, {0x1p-6f, 0x1p-7f}, {0x1p-6f, 0x1p-7f}}) == 0x40610400);
}

TEST_CASE("subnormals keep the exponent -6") {
  CHECK(bits_of({{0x1p-9f, 448}, {0x1p-9f, 0x1p-3f}}) == 0x3f600000);  // renormalised: 0x3f600400
  CHECK(bits_of(with_many({}, 32, 0x1p-9f, 0x1p-9f)) == 0x39000000);   // 32 * 2^-18, all exact
}

TEST_CASE("zeros never raise E") {
  const std::uint32_t c = 0x3d000400;  // 2^-5 * (1 + 2^-13)
  CHECK(bits_of(with_many({}, 32, 0, 448), c) == c);
  CHECK(bits_of(with_many({}, 32, 0, 0), 0x00000400) == 0x00000400);
}

TEST_CASE("a zero sum is +0") {
  CHECK(bits_of({}, f32_sign) == 0);
  CHECK(bits_of(with_many({}, 32, -0.0f, 1), f32_sign) == 0);
  CHECK(bits_of({{2, 2}, {-2, 2}}) == 0);
}

TEST_CASE("at the bottom the exponent is pinned at -126") {
  CHECK(bits_of({}, 0x00000400) == 0x00000400);
  CHECK(bits_of({}, 0x000003ff) == 0);
  CHECK(bits_of({}, 0x807fffff) == 0x807ffc00);
}

TEST_CASE("finite inputs never overflow") {
  CHECK(bits_of({}, 0x7f7fffff) == 0x7f7ffc00);
  CHECK(bits_of(with_many({}, 32, 448, 448), 0x7f7fffff) == 0x7f7ffc00);
}

TEST_CASE("NaN wins over infinity, infinity over everything else") {
  std::array<std::uint8_t, 32> a{}, b{};
  CHECK(f32_bits(dot(sm90, a.data(), b.data(), f32_from_bits(0xff800000))) == 0xff800000);
  CHECK(f32_bits(dot(sm90, a.data(), b.data(), f32_from_bits(0xffc12345))) == f32_canonical_nan);
  b[31] = 0xff;  // NaN times zero
  CHECK(f32_bits(dot(sm90, a.data(), b.data(), 1.0f)) == f32_canonical_nan);
  CHECK(f32_bits(dot(sm90, a.data(), b.data(), f32_from_bits(f32_infinity))) == f32_canonical_nan);
}

TEST_CASE("'what if' is one changed value") {
  const Pairs pairs = with_many({{448, 448}}, 31, 2, 2);
  CHECK(bits_of(pairs, 0, with_fraction_bits(25)) == f32_bits(200828.0f));  // exact
  CHECK(bits_of(pairs, 0, with_fraction_bits(15)) ==
        f32_bits(200828.0f));  // the unit is 4 and the sum a multiple of it
  CHECK(bits_of(pairs, 0, with_fraction_bits(14)) ==
        f32_bits(200824.0f));  // kept in the sum, cut in the result
  STATIC_REQUIRE(with_fraction_bits(13).output_bits == sm90.output_bits);
  STATIC_REQUIRE(with_fraction_bits(25).output_bits == 23);
}

TEST_CASE("the trace shows every term and adds up to the result") {
  std::array<std::uint8_t, 32> a{}, b{};
  a[3] = E4M3::satfinite(448).code, b[3] = E4M3::satfinite(-448).code;
  a[7] = E4M3::satfinite(2).code, b[7] = E4M3::satfinite(4).code;
  const DotTrace trace = explain_dot(sm90, a.data(), b.data(), 3.0f);
  REQUIRE(trace.term_count == 33);
  CHECK(trace.exponent == 16);
  CHECK(trace.terms[3].significand == -196);  // 14 * 14
  CHECK(trace.terms[3].aligned == -196 * 128);
  CHECK(trace.terms[7].aligned == 1);  // 8 = one unit of 2^(16-13)
  CHECK(trace.terms[32].aligned == 0);
  CHECK(trace.sum == -196 * 128 + 1);
  CHECK(trace.result == -200688.0f);  // -200696 cut to a multiple of 2^(17-13)
}
