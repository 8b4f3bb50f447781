// Every kind of problem, every form, on every engine: the model's bits, the edges of groups among them.
#include <cstring>
#include <string>

#include "tests/catch.hpp"
#include "tests/engine/engines_here.hpp"
#include "tests/engine/grouped_problem.hpp"

using namespace fp8twin;
using test::Case;
using test::none;
using test::options_of;
using test::problem_of;
using test::refusal;
using test::some_configs;

namespace {

// Sizes that begin and end at the edges of slabs (64), of padding (128) and of tiles (256).
const Case cases[] = {
    {"contiguous", "200,0,56,192", none, 72, 200, none, "", false, false, "nan"},
    {"contiguous", "200,0,56,192", none, 40, 130, none, "1x128", false, true, "nan"},
    {"contiguous", "1,257,64,0", none, 24, 300, none, "", false, false, "nan", "1,0,2,0,1"},
    {"contiguous", "0,0,0", 300, 24, 128, none, "", false, true, "nan"},
    {"masked", "3,0,64", none, 72, 200, 64, "", false, false, "nan"},
    {"masked", "65,127,0,1", none, 33, 257, 130, "1x128", false, false, "nan"},
    {"masked", "0,0", none, 16, 128, 7, "", false, false, "nan"},
    {"masked", "9,2", none, 24, 0, 9},
    {"batched", "3", 65, 40, 272},
    {"batched", "2", 7, 17, 129, none, "1x128"},
    {"k-grouped", "200,0,56,1,129", 70, 40, none},
    {"k-grouped", "200,0,128", 33, 24, none, none, "128x128", true},
    {"k-grouped", "0,0", 20, 16, none, none, "1x128", true},
    {"1d1d", "", 130, 72, 300},
    {"1d1d", "", 65, 33, 129, none, "", true},
    {"1d1d", "", 5, 16, 0, none, "", true},
    {"1d1d", "", 300, 40, 0, none, "", true},
    {"1d2d", "", 130, 136, 200, none, "", true},
};

}  // namespace

TEST_CASE("every kind on every engine: the model's bits; padding of NaN reaches nothing") {
  const auto model = make_engine("model");
  const auto engines = test::engines_here();
  std::uint64_t seed = 0, runs = 0;
  for (const Case& each : cases) {
    for (const Distribution distribution : {Distribution::normal, Distribution::adversarial}) {
      const Problem problem = problem_of(each, distribution, ++seed);
      for (const DType output : {DType::bf16, DType::f32}) {
        const std::vector<std::byte> expected = model->run(problem, output, {}).d;
        for (const auto& engine : engines) {
          if (!engine->runs_kernels() || runs++ % test::one_of != 0) continue;
          const std::vector<GemmConfig> configs =
              some_configs(product_of(problem).form, output == DType::f32);
          const GemmConfig& config = configs[seed % configs.size()];
          INFO(engine->name() << ", " << each.text() << ", " << config.name());
          CHECK((engine->run(problem, output, options_of(config, seed)).d == expected));
        }
      }
    }
  }
}

TEST_CASE("rows that no group has are zero, though the operands' are NaN") {
  const Problem contiguous = problem_of(cases[0], Distribution::normal, 5);
  for (const auto& engine : test::engines_here()) {
    const RunOptions options = options_of(some_configs(product_of(contiguous).form, false)[0]);
    const std::vector<std::byte> d = engine->run(contiguous, DType::bf16, options).d;
    i64 not_zero = 0, padding = 0;
    for (i64 row = 0; row < contiguous.m; ++row) {
      if (contiguous.m_indices[static_cast<std::size_t>(row)] >= 0) continue;
      ++padding;
      for (i64 i = 2 * row * contiguous.n; i < 2 * (row + 1) * contiguous.n; ++i) {
        not_zero += d[static_cast<std::size_t>(i)] != std::byte{0};
      }
    }
    CHECK(padding == 56 + 72 + 64);
    CHECK(not_zero == 0);
  }
}

TEST_CASE("kernels say what they do not take") {
  const auto machine = make_engine("machine");
  const Problem masked = problem_of(cases[4], Distribution::normal, 1);
  for (int step = first_step; step < 8; ++step) {
    RunOptions options{.threads = 1, .config = default_config(step, 64, 72, 200, false, 4)};
    CHECK_THAT(refusal(*machine, masked, options), contains_text("accepted from step 8 on are groups"));
  }
  Problem many = masked;
  many.groups = most_groups + 1;
  CHECK_THAT(refusal(*machine, many, {}), contains_text("the kernels take 65536 at most"));
}
