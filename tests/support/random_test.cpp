// The generator's bytes are part of every problem file's meaning: pinned values, and no collisions where none may be.
#include "emulator/support/random.hpp"

#include <set>

#include "tests/catch.hpp"

using fp8twin::Random;

TEST_CASE("random: a stream never repeats a value, and streams differ") {
  const Random one(1, 1), two(1, 2), other(2, 1);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    seen.insert(one.bits(i));
    seen.insert(two.bits(i));
    seen.insert(other.bits(i));
  }
  CHECK(seen.size() == 300'000);
}

TEST_CASE("random: below() stays below and reaches every value about equally") {
  const Random random(7, 3);
  int counts[10] = {};
  for (std::uint64_t i = 0; i < 100'000; ++i) ++counts[random.below(i, 10)];
  for (const int count : counts) {
    CHECK(count > 9'600);  // four standard deviations around 10,000
    CHECK(count < 10'400);
  }
}
