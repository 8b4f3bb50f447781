// Each variant is recognised in a result made by a second implementation of it; and no other is mistaken
// for it.
#include "emulator/report/variants.hpp"

#include <functional>

#include "tests/catch.hpp"
#include "tests/report/small_problem.hpp"

using namespace fp8twin;
using test::SmallProblem;

namespace {

using ElementFunction = std::function<float(std::int64_t row, std::int64_t column)>;

std::vector<VariantScore> scores_of(const SmallProblem& small, const std::vector<float>& d) {
  const Problem problem = small.problem();
  const Elements elements(problem);
  const auto all = evenly_spaced(elements.ranges(), elements.count());
  const Tensor b = tensor_of<float>("d", DType::f32, {small.m, small.n}, d);
  return score_variants(elements, variants_for(problem, DType::f32), b, all, std::span(all).first(7), 2);
}

/// The named variant reproduces everything, and alone does.
void check_recognised(const SmallProblem& small, const std::string& name, const ElementFunction& function) {
  const auto scores = scores_of(small, small.f32(function));
  const auto best = best_variant(scores);
  REQUIRE(best.has_value());
  CHECK(scores[*best].variant.name == name);
  CHECK((scores[*best].differing == small.m * small.n && scores[*best].sample == 7));
  for (const VariantScore& score : scores) {
    CAPTURE(score.variant.name);
    if (score.variant.name != name) CHECK(score.differing < small.m * small.n);
  }
}

void set_constant_scales(SmallProblem& small, float sa, float sb) {
  small.a_scale.assign(small.a_scale.size(), sa);
  small.b_scale.assign(small.b_scale.size(), sb);
}

}  // namespace

TEST_CASE("variants with promotion are told apart") {
  const SmallProblem s(16, 24, 700);
  const auto promoted = [&](const auto& step) {
    return [&s, step](std::int64_t row, std::int64_t column) {
      float final = 0;
      for (std::int64_t j = 0; j < s.blocks(); ++j)
        final = step(s.p(row, column, j), s.sa(row, j), s.sb(column, j), final);
      return final;
    };
  };
  check_recognised(s, "model",
                   promoted([](float p, float sa, float sb, float d) { return std::fma(sa * sb, p, d); }));
  check_recognised(s, "multiply-then-add",
                   promoted([](float p, float sa, float sb, float d) { return d + (sa * sb) * p; }));
  check_recognised(s, "scale-a-first",
                   promoted([](float p, float sa, float sb, float d) { return d + (p * sa) * sb; }));
  check_recognised(s, "scale-b-first",
                   promoted([](float p, float sa, float sb, float d) { return d + (p * sb) * sa; }));
  check_recognised(s, "scale-a-first-fma",
                   promoted([](float p, float sa, float sb, float d) { return std::fma(p * sa, sb, d); }));
  check_recognised(s, "scale-b-first-fma",
                   promoted([](float p, float sa, float sb, float d) { return std::fma(p * sb, sa, d); }));
}

TEST_CASE("variants of the sums within a block are told apart") {
  const SmallProblem s(16, 24, 700, 2);
  const auto blocks = [&](const auto& sum_of_block) {
    return [&s, sum_of_block](std::int64_t row, std::int64_t column) {
      float final = 0;
      for (std::int64_t j = 0; j < s.blocks(); ++j)
        final = std::fma(s.sa(row, j) * s.sb(column, j), sum_of_block(row, column, j), final);
      return final;
    };
  };
  const auto product = [&s](std::int64_t row, std::int64_t column, std::int64_t k) {
    return test::second_value(s.a_row(row)[k]) * test::second_value(s.b_row(column)[k]);
  };
  check_recognised(s, "fraction-bits-25",
                   blocks([&](std::int64_t r, std::int64_t c, std::int64_t j) { return s.p(r, c, j, 25); }));
  check_recognised(s, "fp32-sums", blocks([&](std::int64_t r, std::int64_t c, std::int64_t j) {
                     float sum = 0;
                     for (std::int64_t i = 0; i < s.length(j); ++i)
                       sum += static_cast<float>(product(r, c, 128 * j + i));
                     return sum;
                   }));
  check_recognised(s, "exact-blocks", blocks([&](std::int64_t r, std::int64_t c, std::int64_t j) {
                     double sum = 0;  // exact: 43 bits
                     for (std::int64_t i = 0; i < s.length(j); ++i) sum += product(r, c, 128 * j + i);
                     return static_cast<float>(sum);
                   }));
  check_recognised(s, "dequantised", [&](std::int64_t r, std::int64_t c) {
    float sum = 0;
    for (std::int64_t k = 0; k < s.k; ++k) {
      const float x = static_cast<float>(test::second_value(s.a_row(r)[k])) * s.sa(r, k / 128);
      const float y = static_cast<float>(test::second_value(s.b_row(c)[k])) * s.sb(c, k / 128);
      sum = std::fma(x, y, sum);
    }
    return sum;
  });
  check_recognised(s, "double-reference", [&](std::int64_t r, std::int64_t c) {
    long double sum = 0;
    for (std::int64_t k = 0; k < s.k; ++k)
      sum += static_cast<long double>(product(r, c, k)) * s.sa(r, k / 128) * s.sb(c, k / 128);
    return static_cast<float>(sum);
  });
  check_recognised(s, "split-k-2", [&](std::int64_t r, std::int64_t c) {
    float half[2] = {0, 0};
    for (std::int64_t j = 0; j < 6; ++j)
      half[j / 3] = std::fma(s.sa(r, j) * s.sb(c, j), s.p(r, c, j), half[j / 3]);
    return half[0] + half[1];
  });
}

TEST_CASE("one chain over all of K needs constant scales") {
  SmallProblem s(16, 24, 700, 3);
  const auto chain_of = [&s](int bits) {
    return [&s, bits](std::int64_t r, std::int64_t c) {
      return (s.sa(r, 0) * s.sb(c, 0)) * test::second_chain(s.a_row(r), s.b_row(c), s.k, 0.0f, bits);
    };
  };
  for (const VariantScore& score : scores_of(s, s.f32(chain_of(13)))) {
    CAPTURE(score.variant.name);
    if (score.variant.promotion == Promotion::none) CHECK((score.differing == 0 && score.sample == 0));
  }
  set_constant_scales(s, 0.7f, 0.3f);
  check_recognised(s, "fast-accumulation", chain_of(13));
  check_recognised(s, "fraction-bits-25-fast", chain_of(25));
}

TEST_CASE("BF16 by truncation") {
  const SmallProblem s(16, 24, 256, 4);
  std::vector<std::uint16_t> d;
  for (const float x : s.model_f32())
    d.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16));
  const Problem problem = s.problem();
  const Elements elements(problem);
  const auto all = evenly_spaced(elements.ranges(), elements.count());
  const auto scores = score_variants(elements, variants_for(problem, DType::bf16),
                                     tensor_of<std::uint16_t>("d", DType::bf16, {16, 24}, d), all, {}, 2);
  CHECK(scores[*best_variant(scores)].variant.name == "output-truncated");
  CHECK(scores[*best_variant(scores)].differing == 16 * 24);
}

TEST_CASE("the K block where two variants part") {
  SmallProblem s(1, 1, 512, 5);
  set_constant_scales(s, 1, 1);
  std::fill(s.a.begin(), s.a.end(), std::uint8_t{0x38});  // ones: exact in every variant ...
  std::fill(s.b.begin(), s.b.end(), std::uint8_t{0x38});
  s.a[300] = 0x7e, s.b[300] = 0x7e, s.a[301] = 0x01,
  s.b[301] = 0x01;  // ... but for block 2: 2^-18 beside 2^17
  const Problem problem = s.problem();
  const Elements elements(problem);
  const auto variants = variants_for(problem, DType::f32);
  const auto find = [&](const std::string& name) {
    return *std::find_if(variants.begin(), variants.end(), [&](const Variant& v) { return v.name == name; });
  };
  // 448 * 448 = 200704 keeps multiples of 16 at 13 bits: the ones beside it vanish in the model only
  CHECK(first_k_block_apart(find("model"), find("fraction-bits-25"), elements.at(0), DType::f32) == 2);
  CHECK(!first_k_block_apart(find("model"), find("model"), elements.at(0), DType::f32));
  CHECK(!first_k_block_apart(find("model"), find("dequantised"), elements.at(0), DType::f32));
}

TEST_CASE("wgmma: C added last, and promotion where there is none") {
  SmallProblem s(64, 8, 256, 6);
  std::vector<float> c(64 * 8);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = 1000.0f + static_cast<float>(i) * 0.37f;
  TensorFile file;
  file.path = "wgmma";
  file.tensors = {tensor_of<std::uint8_t>("a", DType::f8_e4m3, {64, 256}, s.a),
                  tensor_of<std::uint8_t>("b", DType::f8_e4m3, {8, 256}, s.b),
                  tensor_of<float>("c", DType::f32, {64, 8}, c)};
  const Problem problem = read_problem(file);
  const Elements elements(problem);
  const auto all = evenly_spaced(elements.ranges(), elements.count());
  const auto best_of = [&](const ElementFunction& function) {
    const auto d = s.f32(function);
    const auto scores = score_variants(elements, variants_for(problem, DType::f32),
                                       tensor_of<float>("d", DType::f32, {64, 8}, d), all, {}, 1);
    const VariantScore& best = scores[*best_variant(scores)];
    CHECK(best.differing == 64 * 8);
    return best.variant.name;
  };
  const auto c_of = [&](std::int64_t row, std::int64_t column) {
    return c[static_cast<std::size_t>(8 * row + column)];
  };
  CHECK(best_of([&](std::int64_t i, std::int64_t j) {
          return test::second_chain(s.a_row(i), s.b_row(j), 256, c_of(i, j));
        }) == "model");
  CHECK(best_of([&](std::int64_t i, std::int64_t j) {
          return test::second_chain(s.a_row(i), s.b_row(j), 256) + c_of(i, j);
        }) == "c-added-last");
  CHECK(best_of([&](std::int64_t i, std::int64_t j) {
          return c_of(i, j) + (test::second_chain(s.a_row(i), s.b_row(j), 128) +
                               test::second_chain(s.a_row(i) + 128, s.b_row(j) + 128, 128));
        }) == "promoted");
}
