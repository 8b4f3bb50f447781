// Normal operands: reproducible, bell-shaped, filling E4M3 up to 448.
#include "gpu/bench/problem.hpp"

#include <algorithm>
#include <cmath>

#include "emulator/number/e4m3.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;
using namespace fp8twin::bench;

TEST_CASE("operands are the same for any number of threads, and others for another seed") {
  const Quantised one = normal_operand(130, 300, 128, 7, 1), two = normal_operand(130, 300, 128, 7, 2);
  CHECK(one.codes == two.codes);
  CHECK(one.scales == two.scales);
  CHECK(one.codes.size() == 130 * 300);
  CHECK(one.scales.size() == 2 * 3);
  CHECK(normal_operand(130, 300, 128, 8, 1).codes != one.codes);
}

TEST_CASE("code times scale is a standard normal value; the largest code of a block is 448") {
  const i64 rows = 64, k = 1024;
  const Quantised a = normal_operand(rows, k, 1, 3);
  double sum = 0, squares = 0;
  i64 within = 0;
  for (i64 row = 0; row < rows; ++row) {
    for (i64 block = 0; block < k / 128; ++block) {
      const double scale = static_cast<double>(a.scales[static_cast<std::size_t>(row * (k / 128) + block)]);
      double most = 0;
      for (i64 i = 0; i < 128; ++i) {
        const double code =
            static_cast<double>(E4M3{a.codes[static_cast<std::size_t>(row * k + block * 128 + i)]}.value());
        most = std::max(most, std::abs(code));
        const double value = code * scale;
        sum += value;
        squares += value * value;
        within += std::abs(value) < 1;
      }
      CHECK(most == 448);
    }
  }
  const double count = static_cast<double>(rows * k);  // 65536: a mean is off by 1/256 as its deviation
  CHECK(std::abs(sum / count) < 0.02);
  CHECK(std::abs(squares / count - 1) < 0.03);
  CHECK(std::abs(static_cast<double>(within) / count - 0.6827) < 0.01);
}

TEST_CASE("problems remember B, and count differing elements") {
  Problems problems(1);
  const HostProblem small = problems.problem({1, 64, 256}), more = problems.problem({3, 64, 256});
  CHECK(small.b == more.b);
  CHECK(std::equal(small.a->codes.begin(), small.a->codes.end(), more.a->codes.begin()));
  CHECK(more.operands().a.size() == 3 * 256);
  CHECK(differing({1, 2, 3}, {1, 5, 3}) == 1);
  CHECK(differing({1, 2, 3}, {1, 2}) == 3);
  CHECK(differing({}, {}) == 0);
}
