// The stages of the error: known cases by hand, and sums that must agree with a second model.
#include "emulator/report/analysis.hpp"

#include "emulator/model/gemm.hpp"
#include "emulator/number/bf16.hpp"
#include "tests/catch.hpp"
#include "tests/report/small_problem.hpp"

using namespace fp8twin;
using test::SmallProblem;

namespace {

const Stage& stage(const Analysis& analysis, std::string_view name) {
  for (const Stage& s : analysis.stages) {
    if (s.name == name) return s;
  }
  throw std::runtime_error("no stage " + std::string(name));
}

bool has_stage(const Analysis& analysis, const std::string& name) {
  for (const Stage& s : analysis.stages) {
    if (s.name == name) return true;
  }
  return false;
}

SmallProblem ones(std::int64_t m, std::int64_t n, std::int64_t k) {
  SmallProblem s(m, n, k);
  s.a.assign(s.a.size(), 0x38);
  s.b.assign(s.b.size(), 0x38);
  s.a_scale.assign(s.a_scale.size(), 1);
  s.b_scale.assign(s.b_scale.size(), 1);
  return s;
}

/// The exact result in long double: 64 bits hold it when the scales have few bits.
long double exact_of(const SmallProblem& s, std::int64_t row, std::int64_t column) {
  long double sum = 0;
  for (std::int64_t k = 0; k < s.k; ++k) {
    sum += static_cast<long double>(test::second_value(s.a_row(row)[k]) *
                                    test::second_value(s.b_row(column)[k])) *
           s.sa(row, k / 128) * s.sb(column, k / 128);
  }
  return sum;
}

}  // namespace

TEST_CASE("all ones, K = 16512: the chain stops at 16384, promotion does not") {
  const SmallProblem s = ones(2, 8, 16512);
  const Problem problem = s.problem();
  const Analysis analysis = analyze(problem, {});
  REQUIRE(analysis.examples.size() == 1);
  const AnalysedElement& e = analysis.examples[0];
  CHECK((e.exact == 16512 && e.promoted == 16512.0f && e.not_promoted == 16384.0f && e.d == 16512.0f));
  CHECK((stage(analysis, "total").max_abs == 0 && stage(analysis, "without promotion").max_abs == 128));
  CHECK(stage(analysis, "without promotion").rms == 128);
  CHECK(stage(analysis, "without promotion").max_rel == 128.0 / 16512);

  const Analysis wide = analyze(problem, {.core = with_fraction_bits(25)});
  CHECK(wide.examples[0].not_promoted == 16512.0f);
  CHECK(stage(wide, "accumulation sm90").max_abs == 0);

  const Analysis fast = analyze(problem, {.promote = false, .output = DType::f32});
  CHECK((fast.examples[0].d == 16384.0f && stage(fast, "accumulation").max_abs == 128 &&
         stage(fast, "promotion").max_abs == 0));
}

TEST_CASE("stages of a small problem, each by a second way") {
  SmallProblem s(6, 10, 400, 11);
  for (float& x : s.a_scale)
    x = std::ldexp(std::round(std::ldexp(x, 10)), -10);  // few bits: long double is exact
  for (float& x : s.b_scale) x = std::ldexp(std::round(std::ldexp(x, 10)), -10);
  const Problem problem = s.problem();
  const Analysis analysis = analyze(problem, {.threads = 2});
  CHECK(
      (analysis.elements == 60 && analysis.rows == 6 && analysis.all_rows == 6 && analysis.not_finite == 0));

  double accumulation = 0, promotion = 0, output = 0, total = 0, total_squares = 0, values = 0, relative = 0;
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      const long double e = exact_of(s, i, j);
      long double t = 0;
      for (std::int64_t b = 0; b < s.blocks(); ++b)
        t += static_cast<long double>(s.p(i, j, b)) * s.sa(i, b) * s.sb(j, b);
      const float f = s.model(i, j);
      const float d = BF16{test::second_bf16(f)}.value();
      accumulation = std::max(accumulation, std::fabs(static_cast<double>(t - e)));
      promotion = std::max(promotion, std::fabs(static_cast<double>(f - t)));
      output = std::max(output, std::fabs(static_cast<double>(d) - static_cast<double>(f)));
      const auto error = static_cast<double>(d - e);
      total = std::max(total, std::fabs(error));
      relative = std::max(relative, std::fabs(error) / std::fabs(static_cast<double>(e)));
      total_squares += error * error;
      values +=
          static_cast<double>(e) * static_cast<double>(e) + static_cast<double>(d) * static_cast<double>(d);
    }
  }
  CHECK((stage(analysis, "accumulation").max_abs == accumulation && accumulation > 0));
  CHECK((stage(analysis, "promotion").max_abs == promotion && promotion > 0));
  CHECK((stage(analysis, "output rounding").max_abs == output && output > 0));
  CHECK((stage(analysis, "total").max_abs == total && stage(analysis, "total").max_rel == relative));
  // sums over elements are made in another order here
  CHECK(std::fabs(stage(analysis, "total").rms / std::sqrt(total_squares / 60) - 1) < 1e-14);
  CHECK(std::fabs(stage(analysis, "total").calc_diff / (total_squares / values) - 1) < 1e-14);
  CHECK(stage(analysis, "accumulation").max_abs >
        stage(analyze(problem, {.core = with_fraction_bits(25)}), "accumulation").max_abs);
}

TEST_CASE("the d that is analysed is the model GEMM's") {
  const SmallProblem s(5, 200, 300, 12);
  const Problem problem = s.problem();
  std::vector<float> d(5 * 200);
  gemm(problem, DType::f32, std::as_writable_bytes(std::span(d)));
  const Analysis analysis = analyze(problem, {.output = DType::f32});
  CHECK(stage(analysis, "output rounding").max_abs == 0);
  for (const AnalysedElement& e : analysis.examples) CHECK(e.d == d[static_cast<std::size_t>(e.index)]);
  CHECK(analysis.examples.size() == 2);
  CHECK(analysis.examples[1].index == stage(analysis, "total").max_abs_index);
}

TEST_CASE("quantisation: what the codes lost of the unquantised inputs") {
  const SmallProblem s = ones(2, 3, 256);
  const Problem problem = s.problem();
  std::vector<float> a(2 * 256, 1.0f), b(3 * 256, 1.0f);
  a[5] = 1.03125f;  // row 0 lost 2^-5 at one place
  const Tensor ta = tensor_of<float>("a", DType::f32, {2, 256}, a),
               tb = tensor_of<float>("b", DType::f32, {3, 256}, b);
  const Analysis analysis = analyze(problem, {.against_a = &ta, .against_b = &tb});
  const Stage& lost = stage(analysis, "quantisation");
  CHECK((lost.max_abs == 0x1p-5 && lost.max_abs_index == 0));
  CHECK(lost.rms == std::sqrt(0x1p-10 * 3 / 6));
  CHECK((stage(analysis, "total").max_abs == 0x1p-5 && stage(analysis, "model f32").max_abs == 0));
  CHECK(analysis.examples[0].unquantised == 256.03125);

  const Tensor wrong = tensor_of<float>("a", DType::f32, {256, 2}, a);
  CHECK_THROWS_WITH(analyze(problem, {.against_a = &wrong, .against_b = &tb}), contains_text("[2, 256]"));
  const Tensor codes = tensor_of<std::uint8_t>("a", DType::f8_e4m3, {2, 256}, s.a);
  CHECK_THROWS_WITH(analyze(problem, {.against_a = &codes, .against_b = &tb}), contains_text("F8_E4M3"));
}

TEST_CASE("elements with a NaN or infinity on their way are left out and counted") {
  SmallProblem s = ones(3, 4, 128);
  s.a[0] = 0x7f;                                          // row 0
  s.a_scale[2] = std::numeric_limits<float>::infinity();  // row 2
  const Problem problem = s.problem();
  const Analysis analysis = analyze(problem, {});
  CHECK((analysis.elements == 4 && analysis.not_finite == 8 && stage(analysis, "total").max_abs == 0));
}

TEST_CASE("rows are sampled evenly when asked") {
  const SmallProblem s = ones(40, 4, 128);
  const Problem problem = s.problem();
  const Analysis analysis = analyze(problem, {.rows = 5});
  CHECK((analysis.rows == 5 && analysis.all_rows == 40 && analysis.elements == 20));
  CHECK(analyze(problem, {.rows = 1000}).rows == 40);
}

TEST_CASE("scales that vary along K: no promotion is refused for d and shown unscaled beside it") {
  const SmallProblem s(4, 4, 256, 13);
  const Problem problem = s.problem();
  CHECK_THROWS_WITH(analyze(problem, {.promote = false}), contains_text("vary along K"));
  const Analysis analysis = analyze(problem, {});
  CHECK((has_stage(analysis, "without promotion, unscaled") && !has_stage(analysis, "without promotion")));
  double most = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      double exact = 0;
      for (std::int64_t k = 0; k < 256; ++k)
        exact += test::second_value(s.a_row(i)[k]) * test::second_value(s.b_row(j)[k]);
      most = std::max(
          most, std::fabs(exact - static_cast<double>(test::second_chain(s.a_row(i), s.b_row(j), 256))));
    }
  }
  CHECK(stage(analysis, "without promotion, unscaled").max_abs == most);
}

TEST_CASE("empty results have no errors, and wgmma has no promotion") {
  const SmallProblem empty(0, 8, 128);
  CHECK(analyze(empty.problem(), {}).elements == 0);
  const SmallProblem none = ones(3, 8, 0);
  const Analysis nothing = analyze(none.problem(), {});
  CHECK((nothing.elements == 24 && stage(nothing, "total").max_abs == 0));

  const SmallProblem s(64, 8, 64, 14);
  const std::vector<float> c(64 * 8, 3.0f);
  TensorFile file;
  file.path = "wgmma";
  file.tensors = {tensor_of<std::uint8_t>("a", DType::f8_e4m3, {64, 64}, s.a),
                  tensor_of<std::uint8_t>("b", DType::f8_e4m3, {8, 64}, s.b),
                  tensor_of<float>("c", DType::f32, {64, 8}, c)};
  const Problem problem = read_problem(file);
  const Analysis analysis = analyze(problem, {.output = DType::f32});
  CHECK(!has_stage(analysis, "promotion"));
  CHECK(analysis.examples[0].d == test::second_chain(s.a_row(0), s.b_row(0), 64, 3.0f));
}
