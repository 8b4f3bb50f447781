// The trace of a tile of a group is that of the same tile of the group's product alone, step by step, for what its rows and
// columns make. (Past a group's end other rows lie: TMA brings those, where a product alone has zeros.)
#include <algorithm>

#include "emulator/layout/fragment.hpp"
#include "emulator/model/slices.hpp"
#include "emulator/number/scale_block.hpp"
#include "tests/catch.hpp"
#include "tests/engine/engines_here.hpp"
#include "tests/engine/grouped_problem.hpp"

using namespace fp8twin;
using test::Case;
using test::none;
using test::problem_of;

namespace {

/// `rows` rows of `width` elements that begin `stride` apart.
template <class T>
std::vector<T> gathered(const T* from, std::int64_t rows, std::int64_t width, std::int64_t stride) {
  std::vector<T> to;
  for (std::int64_t row = 0; row < rows; ++row)
    to.insert(to.end(), from + row * stride, from + row * stride + width);
  return to;
}

/// A group's product as a problem of its own.
struct Alone {
  std::vector<std::uint8_t> a, b;
  std::vector<float> a_scale, b_scale, c;
  Problem problem;

  explicit Alone(const GemmSlice& s)
      : a(gathered(s.a, s.m, s.k, s.lda)),
        b(gathered(s.b, s.n, s.k, s.ldb)),
        a_scale(gathered(s.a_scale, s.m, scale_blocks(s.k), s.a_scale_stride)),
        b_scale(gathered(s.b_scale, (s.n + s.b_scale_rows - 1) / s.b_scale_rows, scale_blocks(s.k),
                         s.b_scale_stride)),
        c(s.c ? gathered(s.c, s.m, s.n, s.n) : std::vector<float>()) {
    problem.kind = s.b_scale_rows == 1 ? Kind::dense_1d1d : Kind::dense_1d2d;
    problem.b_scale_rows = s.b_scale_rows;
    problem.m = s.m;
    problem.n = s.n;
    problem.k = s.k;
    problem.a = a;
    problem.b = b;
    problem.a_scale = a_scale;
    problem.b_scale = b_scale;
    problem.c = c;
    problem.has_c = s.c != nullptr;
  }
};

/// Groups that have rows: contiguous problems have slices for no others.
std::vector<std::uint32_t> groups_of_slices(const Problem& problem) {
  std::vector<std::uint32_t> groups;
  const std::vector<i64> rows = product_of(problem).expected_rows();
  for (std::uint32_t group = 0; group < rows.size(); ++group) {
    if (problem.kind != Kind::contiguous || rows[group] > 0) groups.push_back(group);
  }
  return groups;
}

/// Words that differ, of the first `rows` rows and `columns` columns of the tile, and of the output all.
std::size_t differing(const TraceLayout& at, u32 rows, u32 columns, const std::vector<u32>& a,
                      const std::vector<u32>& b) {
  std::size_t count = 0;
  const auto compare = [&](u64 first, u64 words) {
    for (u64 i = first; i < first + words; ++i) count += a[i] != b[i];
  };
  const auto compare_fragment = [&](u64 first) {
    for (u32 thread = 0; thread < at.threads(); ++thread) {
      for (u32 i = 0; i < at.registers(); ++i) {
        const Coordinate place = accumulator_coordinate(thread % 128, i);
        if (64 * (thread / 128) + place.row < rows && place.column < columns)
          compare(first + at.fragment_word(thread, i), 1);
      }
    }
  };
  for (u32 block = 0; block < at.k_blocks; ++block) {
    compare(at.a_tile(block), rows * (k_block / 4));
    compare(at.b_tile(block), columns * (k_block / 4));
    for (u32 step = 0; step < 4; ++step) compare_fragment(at.accumulator(block, step));
    compare_fragment(at.promoted(block));
  }
  compare(at.output(), at.output_words());
  return count;
}

/// The last tile of the group, which hangs over its end, and the first.
void check(Engine& engine, const Problem& problem, const Problem& alone, u32 group,
           const GemmConfig& config) {
  const DType output = config.output_f32 ? DType::f32 : DType::bf16;
  const u32 m = static_cast<u32>(alone.m), n = static_cast<u32>(alone.n);
  for (const bool last : {true, false}) {
    RunOptions options = test::options_of(config, group);
    options.config.trace = true;
    options.trace_tile_m = last ? (m - 1) / config.rows_of_d() : 0;
    options.trace_tile_n = last ? (n - 1) / config.columns_of_d() : 0;
    const std::vector<u32> expected = engine.run(alone, output, options).trace;
    options.trace_group = group;
    const std::vector<u32> found = engine.run(problem, output, options).trace;
    INFO(engine.name() << ", group " << group << ", tile " << options.trace_tile_m << ","
                       << options.trace_tile_n << ", " << config.name());
    const u32 rows = std::min(m - options.trace_tile_m * config.rows_of_d(), config.rows_of_d());
    const u32 columns = std::min(n - options.trace_tile_n * config.columns_of_d(), config.columns_of_d());
    const TraceLayout at{config.tile_m, config.tile_n, static_cast<u32>(scale_blocks(alone.k))};
    REQUIRE(expected.size() == at.words());
    REQUIRE(found.size() == at.words());
    CHECK(differing(at, config.swapped() ? columns : rows, config.swapped() ? rows : columns, expected,
                    found) == 0);
  }
}

}  // namespace

TEST_CASE("the trace of a group is that of its product alone, for every kind in every loop") {
  const Case cases[] = {{"batched", "3", 70, 36, 300},
                        {"contiguous", "130,0,56", none, 36, 200, none, "", false, false, "nan", "1,0,0"},
                        {"contiguous", "130,0,56", none, 36, 200, none, "1x128", false, true, "nan"},
                        {"masked", "3,0,64", none, 36, 130, 66, "", false, false, "nan"},
                        {"k-grouped", "200,56,513", 70, 36, none},
                        {"k-grouped", "56,130", 70, 36, none, none, "128x128", true}};
  std::uint64_t turn = 0;
  for (const auto& engine : test::engines_here()) {
    if (!engine->runs_kernels()) continue;
    for (const Case& each : cases) {
      INFO(each.text());
      const Problem problem = problem_of(each, Distribution::normal, 3);
      const std::vector<GemmSlice> all = slices(problem);
      const std::vector<std::uint32_t> groups = groups_of_slices(problem);
      REQUIRE(all.size() == groups.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].m == 0 || ++turn % test::one_of != 0) continue;
        const Alone alone(all[i]);
        const bool f32 = (turn / 6 + turn) % 2 == 1;
        check(*engine, problem, alone.problem, groups[i],
              test::some_configs(product_of(problem).form, f32)[turn % 6]);
      }
    }
  }
}

TEST_CASE("an empty group along K leaves a trace of one K block of zeros") {
  const Problem problem = problem_of({"k-grouped", "130,0", 70, 20, none}, Distribution::normal, 3);
  for (const auto& engine : test::engines_here()) {
    if (!engine->runs_kernels()) continue;
    RunOptions options = test::options_of(test::some_configs(product_of(problem).form, true)[2]);
    options.config.trace = true;
    options.trace_group = 1;
    const std::vector<u32> trace = engine->run(problem, DType::f32, options).trace;
    CHECK(trace == std::vector<u32>(TraceLayout{64, 24, 1}.words()));
  }
}

TEST_CASE("a group or a tile that is not there is said") {
  for (const auto& engine : test::engines_here()) {
    if (!engine->runs_kernels()) continue;
    const Problem problem = problem_of({"masked", "3,0,64", none, 24, 130, 70}, Distribution::normal, 1);
    RunOptions options = test::options_of(test::some_configs(product_of(problem).form, false)[2]);
    options.config.trace = true;
    const auto said = [&](u32 group, u32 tile_m, u32 tile_n) {
      options.trace_group = group;
      options.trace_tile_m = tile_m;
      options.trace_tile_n = tile_n;
      return test::refusal(*engine, problem, options);
    };
    CHECK(said(3, 0, 0) == "there is no group 3; the problem has 3");
    CHECK_THAT(said(1, 0, 0), contains_text("D is 0 x 24 and has 0 along M"));
    CHECK_THAT(said(0, 1, 0), contains_text("there is no tile 1,0"));
    CHECK_THAT(said(2, 0, 1), contains_text("D is 64 x 24 and has 1 along M and 1 along N"));
    CHECK(said(2, 0, 0) == "nothing was refused");

    Problem none_at_all = problem_of({"k-grouped", "0", 5, 24, none}, Distribution::normal, 1);
    none_at_all.groups = 0;
    none_at_all.k_sizes = {};
    options.trace_group = 0;
    CHECK(test::refusal(*engine, none_at_all, options) == "there is no group 0; the problem has 0");
  }
}
