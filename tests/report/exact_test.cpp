// The exact reference against plain big-number facts and against long double where that is exact.
#include "emulator/report/exact.hpp"

#include <limits>
#include <vector>

#include "emulator/support/random.hpp"
#include "tests/catch.hpp"
#include "tests/report/second_model.hpp"

using namespace fp8twin;

namespace {

constexpr float tiny = std::numeric_limits<float>::denorm_min(), huge = std::numeric_limits<float>::max();
constexpr float infinity = std::numeric_limits<float>::infinity();

exact::Sum sum_of(std::initializer_list<float> values) {
  exact::Sum sum;
  for (const float value : values) sum.add_product(value);
  return sum;
}

}  // namespace

TEST_CASE("the table is the format") {
  for (int code = 0; code < 256; ++code) {
    const double value = test::second_value(static_cast<std::uint8_t>(code));
    CAPTURE(code);
    CHECK(exact::e4m3_is_nan(static_cast<std::uint8_t>(code)) == std::isnan(value));
    if (!std::isnan(value)) CHECK(exact::e4m3_table[static_cast<std::size_t>(code)] * std::exp2(-9) == value);
  }
  STATIC_REQUIRE(exact::e4m3_table[0x7e] == 448 * 512);
  STATIC_REQUIRE(exact::e4m3_table[0x81] == -1);
}

TEST_CASE("nothing is lost between the largest and the smallest") {
  exact::Sum sum;
  sum.add_product(huge, huge, huge);
  sum.add_product(tiny, tiny, tiny);
  sum.add_product(-huge, huge, huge);
  CHECK(sum.value() == std::exp2(-447));
  sum.add_product(tiny, -tiny, tiny);
  CHECK(sum.value() == 0);
  CHECK(sum_of({1, tiny, -1}).value() == static_cast<double>(tiny));
}

TEST_CASE("value() rounds once, to nearest even") {
  const float ulp = 0x1p-52f, half = 0x1p-53f;
  CHECK(sum_of({1, half}).value() == 1.0);
  CHECK(sum_of({1, half, tiny}).value() == 1.0 + 0x1p-52);
  CHECK(sum_of({1, ulp, half}).value() == 1.0 + 0x1p-51);
  CHECK(sum_of({1, ulp, half, -tiny}).value() == 1.0 + 0x1p-52);
  CHECK(sum_of({-1, -half, -tiny}).value() == -1.0 - 0x1p-52);
  CHECK(sum_of({0x1p64f, -tiny}).value() == 0x1p64);
  CHECK(sum_of({0x1p64f, -0x1p64f}).value() == 0);
}

TEST_CASE("sums agree with long double where 64 bits hold them") {
  const Random random(3, 0);
  for (std::uint64_t trial = 0; trial < 2000; ++trial) {
    exact::Sum sum, negated;
    long double expected = 0;
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::uint64_t at = 100 * trial + i;
      const float x =
          static_cast<float>(static_cast<std::int32_t>(random.below(2 * at, 1u << 24)) - (1 << 23));
      const float y =
          static_cast<float>(static_cast<std::int32_t>(random.below(2 * at + 1, 1u << 24)) - (1 << 23)) *
          0x1p-30f;
      sum.add_product(x, y);
      negated -= sum_of({});
      expected += static_cast<long double>(x) * static_cast<long double>(y);
    }
    negated -= sum;
    CHECK(sum.value() == static_cast<double>(expected));
    CHECK(negated.value() == -static_cast<double>(expected));
    negated += sum;
    CHECK(negated.value() == 0);
  }
}

TEST_CASE("infinities and NaNs follow IEEE 754") {
  CHECK(sum_of({infinity, 5}).value() == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(sum_of({infinity, -infinity}).value()));
  exact::Sum sum;
  sum.add_scaled(0, infinity, 1);
  CHECK((!sum.finite() && std::isnan(sum.value())));
  exact::Sum negative;
  negative.add_scaled(3, -infinity, tiny);
  CHECK(negative.value() == -std::numeric_limits<double>::infinity());
}

TEST_CASE("a block of the largest products, and a K of 2^20") {
  const std::vector<std::uint8_t> a(1 << 20, 0x7e), b(1 << 20, 0xfe);
  CHECK(exact::element(a.data(), b.data(), 1 << 20, nullptr, nullptr, nullptr).value() ==
        -448.0 * 448 * (1 << 20));
}

TEST_CASE("an element with scales, by doubles that hold it") {
  const Random random(5, 0);
  std::vector<std::uint8_t> a(300), b(300);
  for (std::size_t i = 0; i < 300; ++i) {
    a[i] = static_cast<std::uint8_t>(random.below(2 * i, 0x7f));
    b[i] = static_cast<std::uint8_t>(0x80 + random.below(2 * i + 1, 0x7f));
  }
  const std::vector<float> sa{0.5f, 4, -0.25f}, sb{2, 0.125f, 1};
  const float c = 1000.5f;
  double expected = c;
  for (std::size_t i = 0; i < 300; ++i)
    expected += test::second_value(a[i]) * test::second_value(b[i]) * sa[i / 128] * sb[i / 128];
  CHECK(exact::element(a.data(), b.data(), 300, sa.data(), sb.data(), &c).value() == expected);
  a[299] = 0x7f;
  CHECK(std::isnan(exact::element(a.data(), b.data(), 300, sa.data(), sb.data(), &c).value()));
  CHECK(exact::element(a.data(), b.data(), 0, nullptr, nullptr, &c).value() == 1000.5);
}
