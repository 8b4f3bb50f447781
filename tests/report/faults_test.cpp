// A planted fault of one K block is found, named and placed; results without one are not accused.
#include "emulator/report/variants.hpp"

#include "tests/catch.hpp"
#include "tests/report/small_problem.hpp"

using namespace fp8twin;
using test::SmallProblem;

namespace {

std::optional<Fault> fault_in(const SmallProblem& small, const std::vector<float>& d, bool as_bf16) {
  const Problem problem = small.problem();
  const Elements elements(problem);
  const auto all = evenly_spaced(elements.ranges(), elements.count());
  const auto halves = SmallProblem::bf16(d);
  const Shape shape{small.m, small.n};
  const Tensor b = as_bf16 ? tensor_of<std::uint16_t>("d", DType::bf16, shape, halves)
                           : tensor_of<float>("d", DType::f32, shape, d);
  return find_fault(elements, b, all, 2);
}

/// d where block j contributes `times` times, scaled by the scales of block `scale_of(j)`, up to block
/// `last`.
std::vector<float> faulty(const SmallProblem& s, std::int64_t block, int times, std::int64_t scales_of,
                          std::int64_t last) {
  return s.f32([&](std::int64_t row, std::int64_t column) {
    float final = 0;
    for (std::int64_t j = 0; j <= last; ++j) {
      const std::int64_t from = j == block ? scales_of : j;
      for (int t = 0; t < (j == block ? times : 1); ++t)
        final = std::fma(s.sa(row, from) * s.sb(column, from), s.p(row, column, j), final);
    }
    return final;
  });
}

}  // namespace

TEST_CASE("each fault, at each kind of place") {
  const SmallProblem s(12, 20, 900);  // eight K blocks, the last a short one
  for (const bool as_bf16 : {false, true}) {
    const auto check = [&](const std::vector<float>& d, FaultKind kind, std::int64_t block) {
      const std::optional<Fault> fault = fault_in(s, d, as_bf16);
      REQUIRE(fault.has_value());
      CHECK((fault->kind == kind && fault->k_block == block && fault->reproduced == 240 &&
             fault->tested == 240));
    };
    check(faulty(s, 3, 0, 3, 7), FaultKind::block_left_out, 3);
    check(faulty(s, 7, 0, 7, 7), FaultKind::block_left_out, 7);
    check(faulty(s, 0, 2, 0, 7), FaultKind::block_twice, 0);
    check(faulty(s, 5, 1, 4, 7), FaultKind::scales_of_previous, 5);
    check(faulty(s, 5, 1, 6, 7), FaultKind::scales_of_next, 5);
    check(faulty(s, 99, 1, 0, 4), FaultKind::ends_after, 4);
  }
}

TEST_CASE("a sound result and one with another kind of difference have no such fault") {
  const SmallProblem s(12, 20, 900);
  CHECK(!fault_in(s, s.model_f32(), false));
  CHECK(!fault_in(s, std::vector<float>(240, 1.5f), false));
}

TEST_CASE("two blocks that explain b alike are not told apart, so none is named") {
  SmallProblem s(4, 4, 512, 9);
  s.a_scale.assign(s.a_scale.size(), 1);
  s.b_scale.assign(s.b_scale.size(), 1);
  s.a.assign(s.a.size(), 0x38);
  s.b.assign(s.b.size(), 0x38);
  CHECK(!fault_in(s, std::vector<float>(16, 384.0f),
                  false));  // one of four equal blocks is missing, but which?
}

TEST_CASE("the sentence names the block") {
  CHECK(Fault{FaultKind::block_left_out, 3, 1, 1}.sentence() == "b is the model's result without K block 3");
  CHECK(Fault{FaultKind::scales_of_previous, 3, 1, 1}.sentence() ==
        "b has K block 3 scaled by the scales of block 2");
}
