// The published table against itself: its ratios and rates follow from its times.
#include "gpu/bench/shapes.hpp"

#include <cmath>
#include <set>

#include "emulator/support/error.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;
using namespace fp8twin::bench;

TEST_CASE("the published figures agree with one another, as far as their digits go") {
  REQUIRE(figures().size() == 20);
  int small = 0, large = 0;
  for (const Figure& f : figures()) {
    INFO(f.shape.name());
    // Times have one decimal, rates none, ratios two: each is off by half a unit at most.
    const double most = (f.cublaslt_us + 0.05) / (f.best_us - 0.05),
                 least = (f.cublaslt_us - 0.05) / (f.best_us + 0.05);
    CHECK(f.ratio > least - 0.005);
    CHECK(f.ratio < most + 0.005);
    for (const auto& [us, tflops] :
         {std::pair{f.best_us, f.best_tflops}, std::pair{f.cublaslt_us, f.cublaslt_tflops}}) {
      CHECK(tflops > f.shape.operations() / (us + 0.05) * 1e-6 - 1);
      CHECK(tflops < f.shape.operations() / (us - 0.05) * 1e-6 + 1);
    }
    small += f.shape.m <= 128;
    large += f.shape.m >= 4096;
  }
  CHECK(small == 12);
  CHECK(large == 8);
}

TEST_CASE("all shapes: the published ones, then four M for each of six layers, none twice") {
  const std::vector<Shape> shapes = all_shapes();
  CHECK(shapes.size() == 44);
  CHECK(std::set<Shape>(shapes.begin(), shapes.end()).size() == 44);
  for (std::size_t i = 0; i < 20; ++i) CHECK(shapes[i] == figures()[i].shape);
  for (std::size_t i = 20; i < 44; ++i) {
    CHECK_FALSE(figure_of(shapes[i]));
    CHECK(figure_of({64, shapes[i].n, shapes[i].k}));
  }
}

TEST_CASE("bytes and operations of a shape") {
  const Shape shape{64, 7168, 16384};
  CHECK(shape.operations() == 2.0 * 64 * 7168 * 16384);
  CHECK(shape.bytes() == 64 * 16384 + 7168 * 16384 + 2 * 64 * 7168 + 4 * 128 * (64 + 56));
  CHECK((Shape{1, 129, 1}).bytes() == 1 + 129 + 2 * 129 + 4 * (1 + 2));
  CHECK(shape.name() == "64x7168x16384");
}

TEST_CASE("shapes as an option gives them") {
  const std::vector<Shape> two = {{64, 2112, 7168}, {1, 8, 3}};
  CHECK(parse_shapes("64,2112,7168;1,8,3") == two);
  CHECK(parse_shapes("64,2112,7168;1,8,3;") == two);
  for (const char* wrong :
       {"", "64", "64,1", "64,1,2,3", "64,1,x", "0,1,2", "-1,2,3", "1,2,3;;4", "1, 2,3", "1,2,3 "}) {
    INFO(wrong);
    CHECK_THROWS_AS(parse_shapes(wrong), Error);
  }
}
