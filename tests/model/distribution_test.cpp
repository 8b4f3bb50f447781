// Named distributions: each is what it says, and its bytes never change.
#include "emulator/model/distribution.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "emulator/number/e4m3.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/support/error.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

constexpr std::int64_t rows = 256, columns = 128;

std::vector<E4M3> codes(Distribution distribution) {
  std::vector<std::uint8_t> raw(rows * columns);
  fill_codes(distribution, 42, Operand::a, columns, raw);
  std::vector<E4M3> out;
  for (const std::uint8_t code : raw) out.push_back({code});
  return out;
}

std::vector<float> c_values(Distribution distribution) {
  std::vector<float> c(rows * columns);
  fill_c(distribution, 42, c);
  return c;
}

template <class Values, class Predicate>
double share(const Values& values, Predicate holds) {
  double count = 0;
  for (const auto& each : values) count += holds(each);
  return count / static_cast<double>(values.size());
}

int field(E4M3 x) { return (x.code >> 3) & 15; }
float magnitude(float x) { return std::fabs(x); }

/// FNV-1a over all bytes that the library can draw for one seed.
std::uint64_t digest() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](const void* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      hash = (hash ^ static_cast<const std::uint8_t*>(data)[i]) * 0x100000001b3u;
  };
  for (const Distribution distribution : all_distributions()) {
    std::vector<std::uint8_t> raw(512);
    std::vector<float> floats(512);
    fill_codes(distribution, 1, Operand::b, 64, raw);
    add(raw.data(), raw.size());
    fill_c(distribution, 1, floats);
    add(floats.data(), floats.size() * 4);
    fill_scales(distribution, 1, Operand::a_scale, floats);
    add(floats.data(), floats.size() * 4);
  }
  return hash;
}

}  // namespace

TEST_CASE("distributions: names go both ways, and an unknown one lists them") {
  CHECK(all_distributions().size() == 14);
  for (const Distribution each : all_distributions())
    CHECK(distribution_from_name(distribution_name(each)) == each);
  CHECK_THROWS_WITH(distribution_from_name("gauss"), contains_text("gauss") && contains_text("uniform-nan"));
}

TEST_CASE("distributions: codes are what the name says") {
  for (const Distribution each : all_distributions()) {
    const double nan = share(codes(each), [](E4M3 x) { return x.is_nan(); });
    INFO(distribution_name(each) << ": share of NaN " << nan);
    if (each == Distribution::uniform_nan) {
      CHECK(std::fabs(nan - 2.0 / 256) < 0.002);
    } else if (each == Distribution::adversarial) {
      CHECK((nan > 0 && nan < 0.001));
    } else {
      CHECK(nan == 0);
    }
  }
  CHECK(share(codes(Distribution::exponents_4_11), [](E4M3 x) { return field(x) >= 4 && field(x) <= 11; }) ==
        1);
  CHECK(share(codes(Distribution::subnormal), [](E4M3 x) { return field(x) == 0; }) == 1);
  CHECK(share(codes(Distribution::extremes), [](E4M3 x) { return field(x) <= 3 || field(x) == 15; }) == 1);
  CHECK(share(codes(Distribution::zeros), [](E4M3 x) { return x.is_zero(); }) == 1);
  CHECK(std::fabs(share(codes(Distribution::zeros), [](E4M3 x) { return x.is_negative(); }) - 0.5) < 0.02);
  CHECK(std::fabs(share(codes(Distribution::sparse), [](E4M3 x) { return !x.is_zero(); }) - 0.125) < 0.02);
  const double rare = share(codes(Distribution::rare_subnormal), [](E4M3 x) { return !x.is_zero(); });
  CHECK((rare > 0.01 && rare < 0.05));
  CHECK(share(codes(Distribution::ones), [](E4M3 x) { return x.value() == 1; }) == 1);
  const auto uniform = codes(Distribution::uniform);
  for (int code = 0; code < 256; ++code) {
    if (E4M3{static_cast<std::uint8_t>(code)}.is_nan()) continue;
    CHECK(share(uniform, [code](E4M3 x) { return x.code == code; }) > 0.001);
  }
}

TEST_CASE("distributions: row-exponent has one exponent field a row, normal is a bell") {
  const auto x = codes(Distribution::row_exponent);
  bool differ = false;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t k = 0; k < columns; ++k) REQUIRE(field(x[row * columns + k]) == field(x[row * columns]));
    differ |= field(x[row * columns]) != field(x[0]);
  }
  CHECK(differ);
  double sum = 0, square = 0;
  for (const E4M3 each : codes(Distribution::normal))
    sum += each.value(), square += each.value() * each.value();
  const double deviation = std::sqrt(square / (rows * columns));
  CHECK(std::fabs(sum / (rows * columns)) < 5);
  CHECK((deviation > 140 && deviation < 155));  // 2^-8 * 65536 / sqrt(3)
}

TEST_CASE("distributions: C and scales keep to their ranges") {
  CHECK(share(c_values(Distribution::uniform),
              [](float c) { return c == 0 || (magnitude(c) >= 0x1p-16f && magnitude(c) < 0x1p24f); }) == 1);
  CHECK(share(c_values(Distribution::subnormal),
              [](float c) { return magnitude(c) >= 0x1p-24f && magnitude(c) < 0x1p-4f; }) == 1);
  CHECK(share(c_values(Distribution::rare_subnormal), [](float c) { return magnitude(c) < 1.0f; }) == 1);
  CHECK(share(c_values(Distribution::any_c), [](float c) { return is_nan(c); }) > 0.003);
  std::vector<float> scales(4096);
  fill_scales(Distribution::normal, 1, Operand::a_scale, scales);
  CHECK(share(scales, [](float s) { return s >= 0x1p-12f && s < 0x1p-3f; }) == 1);
  fill_scales(Distribution::adversarial, 1, Operand::a_scale, scales);
  CHECK(share(scales, [](float s) { return is_nan(s); }) > 0);
  CHECK(share(scales, [](float s) { return is_infinite(s); }) > 0);
  CHECK(share(scales, [](float s) { return s != 0 && magnitude(s) < 0x1p-126f; }) > 0);
  CHECK(share(scales, [](float s) { return s < 0; }) > 0.2);
}

TEST_CASE("distributions: the number of threads changes no code") {
  std::vector<std::uint8_t> one(rows * columns), many(rows * columns);
  fill_codes(Distribution::row_exponent, 7, Operand::b, columns, one, 1);
  fill_codes(Distribution::row_exponent, 7, Operand::b, columns, many, 5);
  CHECK(one == many);
}

TEST_CASE("distributions: the bytes are pinned") { CHECK(digest() == 0x1512d610b68a2f36u); }
