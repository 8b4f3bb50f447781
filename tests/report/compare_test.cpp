// Planted differences are found, counted, measured and placed.
#include "emulator/report/compare.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "emulator/report/word.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/random.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T>
Comparison compare_as(DType dtype, const std::vector<T>& a, const std::vector<T>& b,
                      const CompareOptions& options = {}) {
  const Shape shape{static_cast<std::int64_t>(a.size())};
  return compare(tensor_of<T>("a", dtype, shape, a), tensor_of<T>("b", dtype, shape, b), options);
}

Comparison compare_floats(const std::vector<float>& a, const std::vector<float>& b,
                          const CompareOptions& options = {}) {
  return compare_as(DType::f32, a, b, options);
}

}  // namespace

TEST_CASE("equal tensors") {
  const Comparison c = compare_floats({1, -2, 0, infinity}, {1, -2, 0, infinity});
  CHECK((c.equal() && c.elements == 4 && c.max_ulp == 0 && c.max_abs == 0 && c.max_rel == 0 &&
         c.calc_diff == 0 && c.first.empty()));
  CHECK(compare_floats({}, {}).equal());
}

TEST_CASE("signed zeros differ in bits and are 0 steps apart") {
  const Comparison c = compare_floats({0.0f, -0.0f, 1}, {-0.0f, -0.0f, 1});
  CHECK(
      (c.different == 1 && c.max_ulp == 0 && c.max_abs == 0 && c.calc_diff == 0 && c.ulp_histogram[0] == 1));
  CHECK((c.within(0) && !c.equal() && c.first.size() == 1 && c.first[0].b == 0x80000000u));
}

TEST_CASE("steps across zero, and to infinity") {
  const float tiny = std::numeric_limits<float>::denorm_min(), huge = std::numeric_limits<float>::max();
  CHECK(compare_floats({tiny}, {-tiny}).max_ulp == 2);
  const Comparison c = compare_floats({huge}, {infinity});
  CHECK((c.max_ulp == 1 && std::isinf(c.max_abs) && std::isinf(c.max_rel) && c.calc_diff == 0));
  CHECK(compare_floats({huge}, {-huge}).max_ulp == 2 * std::uint64_t{0x7f7fffff});
}

TEST_CASE("NaN: bits decide, distance does not exist") {
  const float nan = std::bit_cast<float>(0x7fffffffu), other = std::bit_cast<float>(0x7fc00000u);
  const Comparison c = compare_floats({nan, nan, nan, 1, 2}, {nan, other, 1, nan, 2});
  CHECK((c.different == 3 && c.nan_mismatch == 3 && c.max_ulp == 0 && c.max_abs == 0 && c.calc_diff == 0));
  CHECK(!c.within(1000));
  const Comparison equal =
      compare_floats({nan, nan, nan, 1, 2}, {nan, other, 1, nan, 2}, {.nan_equal = true, .ranges = {}});
  CHECK((equal.different == 2 && equal.nan_mismatch == 2));
}

TEST_CASE("magnitudes of a difference, by hand") {
  const Comparison c = compare_floats({1, 2, 4}, {1, 3, 4});  // sum ab = 23, sum of squares = 21 + 26
  CHECK((c.max_abs == 1 && c.max_abs_index == 1 && c.max_rel_index == 1));
  CHECK(c.max_rel == 1.0 / 3);
  CHECK(c.calc_diff == 1.0 / 47);  // = 1 - 2 * 23 / 47
  CHECK(compare_floats({0, 0}, {0, 0}).calc_diff == 0);
  CHECK(compare_floats({0}, {5}).calc_diff == 1);
  CHECK(compare_floats({-5}, {5}).calc_diff == 2);
}

TEST_CASE("the histogram counts distances by powers of two") {
  std::vector<float> a(100, 1.0f), b = a;
  const auto plant = [&](std::size_t at, std::uint32_t steps) {
    b[at] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(1.0f) + steps);
  };
  plant(3, 1), plant(10, 2), plant(11, 3), plant(50, 4), plant(51, 7), plant(99, 8);
  const Comparison c = compare_floats(a, b);
  CHECK(c.different == 6);
  CHECK((c.ulp_histogram[1] == 1 && c.ulp_histogram[2] == 2 && c.ulp_histogram[3] == 2 &&
         c.ulp_histogram[4] == 1));
  CHECK((c.max_ulp == 8 && c.max_ulp_index == 99));
  REQUIRE(c.first.size() == 5);
  CHECK((c.first[0].index == 3 && c.first[4].index == 51));
}

TEST_CASE("every dtype: one planted step is one difference of one ULP") {
  const auto check = [](DType dtype, auto zero) {
    using T = decltype(zero);
    std::vector<T> a(1000, static_cast<T>(0x10)), b = a;
    b[777] = static_cast<T>(0x11);
    const Comparison c = compare_as(dtype, a, b);
    CAPTURE(dtype_name(dtype));
    CHECK((c.different == 1 && c.max_ulp == 1 && c.nan_mismatch == 0 && c.ulp_histogram[1] == 1));
    REQUIRE(c.first.size() == 1);
    CHECK((c.first[0].index == 777 && c.first[0].a == 0x10 && c.first[0].b == 0x11));
    CHECK(c.max_abs == word_value(dtype, 0x11) - word_value(dtype, 0x10));
  };
  for (const DType dtype : {DType::f8_e4m3, DType::f8_e5m2, DType::f8_e8m0, DType::u8})
    check(dtype, std::uint8_t{});
  for (const DType dtype : {DType::bf16, DType::f16}) check(dtype, std::uint16_t{});
  for (const DType dtype : {DType::f32, DType::i32}) check(dtype, std::uint32_t{});
  CHECK(compare_as<std::int32_t>(DType::i32, {std::numeric_limits<std::int32_t>::min()},
                                 {std::numeric_limits<std::int32_t>::max()})
            .max_ulp == 0xffffffffu);
  CHECK(compare_as<std::uint8_t>(DType::f8_e8m0, {0xff}, {0x7f}).nan_mismatch == 1);
}

TEST_CASE("many chunks and any number of threads give one result") {
  const Random random(7, 0);
  std::vector<float> a(300'000), b;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(random.below(i, 1000)) - 500;
  b = a;
  for (std::size_t i = 0; i < 2000; ++i) b[random.below(1'000'000 + i, a.size())] += 1.0f;
  std::int64_t planted = 0;
  for (std::size_t i = 0; i < a.size(); ++i) planted += a[i] != b[i];
  const Comparison one = compare_floats(a, b, {.threads = 1, .ranges = {}}),
                   four = compare_floats(a, b, {.threads = 4, .ranges = {}});
  CHECK((one.different == planted && four.different == planted));
  CHECK((one.calc_diff == four.calc_diff && one.max_rel == four.max_rel &&
         one.max_rel_index == four.max_rel_index));
  CHECK((one.first.size() == 5 && four.first[4].index == one.first[4].index));
}

TEST_CASE("ranges leave elements out") {
  const std::vector<float> a(10, 1.0f);
  std::vector<float> b = a;
  b[0] = b[4] = b[9] = 2;
  const CompareOptions options{.ranges = std::vector<IndexRange>{{1, 4}, {4, 9}}};
  const Comparison c = compare_floats(a, b, options);
  CHECK((c.elements == 8 && c.different == 1 && c.first[0].index == 4));
  CHECK(compare_floats(a, b, {.ranges = std::vector<IndexRange>{}}).elements == 0);
}

TEST_CASE("differing elements are picked evenly") {
  std::vector<float> a(1000, 1.0f), b = a;
  for (std::size_t i = 0; i < 1000; i += 10) b[i] = 2;
  const Tensor x = tensor_of<float>("a", DType::f32, {1000}, a),
               y = tensor_of<float>("b", DType::f32, {1000}, b);
  const CompareOptions options{.ranges = {}};
  const Comparison c = compare(x, y, options);
  const auto all = differing_elements(x, y, c, options, 1'000'000);
  REQUIRE(all.size() == 100);
  CHECK((all[0] == 0 && all[1] == 10 && all[99] == 990));
  CHECK(differing_elements(x, y, c, options, 4) == std::vector<std::int64_t>{0, 250, 500, 750});
  CHECK(evenly_spaced(std::vector<IndexRange>{{0, 4}, {10, 14}}, 4) ==
        std::vector<std::int64_t>{0, 2, 10, 12});
  CHECK(evenly_spaced(std::vector<IndexRange>{{5, 8}}, 100) == std::vector<std::int64_t>{5, 6, 7});
  CHECK(evenly_spaced(std::vector<IndexRange>{}, 100).empty());
}

TEST_CASE("coordinates are row-major") {
  CHECK(coordinates({2, 3, 4}, 23) == Shape{1, 2, 3});
  CHECK(coordinates({5}, 3) == Shape{3});
  CHECK(coordinates({}, 0).empty());
}

TEST_CASE("unequal dtypes or shapes are refused in words") {
  const std::vector<float> a(4), b(6);
  const std::vector<std::uint16_t> h(4);
  CHECK_THROWS_WITH(
      compare(tensor_of<float>("a", DType::f32, {4}, a), tensor_of<float>("b", DType::f32, {6}, b)),
      contains_text("[6]"));
  CHECK_THROWS_AS(
      compare(tensor_of<float>("a", DType::f32, {4}, a), tensor_of<std::uint16_t>("b", DType::bf16, {4}, h)),
      Error);
}
