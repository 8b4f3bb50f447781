// The paths are there that should be, under the names that people type.
#include "emulator/support/simd.hpp"

#include <algorithm>

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("the portable path is always there, the best one is the last") {
  const std::vector<Simd> here = simd_here();
  REQUIRE(here.front() == Simd::portable);
  CHECK(here.back() == best_simd());
  CHECK(std::ranges::is_sorted(here));
  CHECK(std::ranges::all_of(here, runs_here));
}

TEST_CASE("a path is known by its name") {
  for (const Simd simd : simd_here()) CHECK(simd_from_name(simd_name(simd)) == simd);
  CHECK(simd_from_name("auto") == best_simd());
  CHECK_THROWS_WITH(simd_from_name("sse9"), "found 'sse9'; auto, portable, avx2 or avx512 is needed");
  CHECK_THROWS_WITH(simd_from_name(""), "found ''; auto, portable, avx2 or avx512 is needed");
}

TEST_CASE("a path that this processor lacks is refused in a sentence") {
  for (const Simd simd : {Simd::avx2, Simd::avx512}) {
    if (runs_here(simd)) continue;
    CHECK_THROWS_WITH(simd_from_name(simd_name(simd)),
                      contains_text("this processor has no such instructions"));
  }
}
