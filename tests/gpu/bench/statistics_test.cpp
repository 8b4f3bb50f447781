#include "gpu/bench/statistics.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;
using namespace fp8twin::bench;

TEST_CASE("summary: the middle, the mean, the least") {
  const Summary odd = summary_of({5, 1, 9});
  CHECK(odd.median == 5);
  CHECK(odd.mean == 5);
  CHECK(odd.min == 1);
  CHECK(odd.count == 3);
  const Summary even = summary_of({8, 2, 4, 100});
  CHECK(even.median == 6);
  CHECK(even.mean == 28.5);
  CHECK(even.min == 2);
  CHECK(summary_of({}).count == 0);
  CHECK(summary_of({}).median == 0);
}

TEST_CASE("geometric mean: of reciprocals the reciprocal, and of nothing an error") {
  CHECK(geometric_mean(std::vector<double>{2, 8}) == Approx(4));
  CHECK(geometric_mean(std::vector<double>{0.5, 0.125}) == Approx(0.25));
  CHECK(geometric_mean(std::vector<double>{1.5}) == Approx(1.5));
  CHECK_THROWS_AS(geometric_mean({}), Error);
  CHECK_THROWS_AS(geometric_mean(std::vector<double>{1, 0}), Error);
  CHECK_THROWS_AS(geometric_mean(std::vector<double>{1, -1}), Error);
}
