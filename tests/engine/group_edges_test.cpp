// Edges of groups in every loop of steps 8 and 9: sizes about those of slabs, tiles and padding, clusters over a group's end,
// groups without rows or without K, no group at all, and values of c that a sum could lose.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "emulator/number/float_bits.hpp"
#include "tests/catch.hpp"
#include "tests/engine/engines_here.hpp"
#include "tests/engine/grouped_problem.hpp"

using namespace fp8twin;
using test::Case;
using test::none;
using test::problem_of;

namespace {

template <class T>
std::vector<T> elements(const std::vector<std::byte>& d) {
  std::vector<T> values(d.size() / sizeof(T));
  if (!d.empty()) std::memcpy(values.data(), d.data(), d.size());
  return values;
}

using Engines = std::vector<std::unique_ptr<Engine>>;

/// Every loop on every engine, in either output by turns, with c in both: the model's bits.
void check_everywhere(const Engines& engines, const Problem& problem, const std::string& about) {
  static std::uint64_t runs = 0;
  const auto model = make_engine("model");
  std::map<DType, std::vector<std::byte>> expected;
  for (const DType output : {DType::bf16, DType::f32}) expected[output] = model->run(problem, output, {}).d;
  for (const auto& engine : engines) {
    if (!engine->runs_kernels()) continue;
    for (std::uint64_t i = 0; i < 2 * 6; ++i) {
      const bool f32 = i % 2 == 1;
      if (f32 == (i / 2 % 2 == 1) && !problem.has_c) continue;  // of a loop one output, of c both
      if (runs++ % test::one_of != 0) continue;
      const GemmConfig config = test::some_configs(product_of(problem).form, f32)[i / 2];
      INFO(engine->name() << ", " << about << ", " << config.name());
      const DType output = f32 ? DType::f32 : DType::bf16;
      CHECK((engine->run(problem, output, test::options_of(config, i)).d == expected[output]));
    }
  }
}

void check_everywhere(const Engines& engines, const Case& each) {
  check_everywhere(engines, problem_of(each, Distribution::normal, 7), each.text());
}

/// What addition could get wrong: NaNs of every kind, infinities, zeros of both signs, subnormals, and those next to them.
std::vector<float> awkward(std::size_t count) {
  constexpr u32 bits[] = {0x7fc00000, 0xffffffff, 0x7f800001, 0xff812345, 0x7f800000, 0xff800000,
                          0x80000000, 0x00000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff,
                          0x00800000, 0x3fc00000, 0x7f7fffff, 0xff7fffff, 0x00012345};
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = f32_from_bits(bits[i % std::size(bits)]);
  return values;
}

}  // namespace

TEST_CASE("the groups of 200, 0, 56 and 192 rows, and room for 64 of which 3, 0 and 64 count") {
  const auto engines = test::engines_here();
  for (const char* b_block : {"128x128", "1x128"}) {
    check_everywhere(engines,
                     {"contiguous", "200,0,56,192", none, 136, 200, none, b_block, false, false, "nan"});
    check_everywhere(engines, {"masked", "3,0,64", none, 36, 300, 64, b_block, false, false, "nan"});
  }
}

TEST_CASE("NaN in every row of padding, codes and scales, leaves no NaN in d") {
  for (const Case& each : {Case{"contiguous", "200,0,56,192", none, 24, 200, none, "", false, true, "nan"},
                           Case{"masked", "3,0,64", none, 24, 200, 64, "1x128", false, false, "nan"}}) {
    const Problem problem = problem_of(each, Distribution::normal, 3);
    std::size_t nan_scales = 0;
    for (const float scale : problem.a_scale) nan_scales += is_nan(scale);
    CHECK(nan_scales > 0);
    for (const auto& engine : test::engines_here()) {
      const GemmConfig config = test::some_configs(product_of(problem).form, true)[3];
      const std::vector<float> d =
          elements<float>(engine->run(problem, DType::f32, test::options_of(config)).d);
      CHECK(std::count_if(d.begin(), d.end(), [](float value) { return is_nan(value); }) == 0);
      CHECK(std::count_if(d.begin(), d.end(), [](float value) { return value != 0; }) > 0);
    }
  }
}

TEST_CASE(
    "sizes one below, at and one above 64, 128 and 256; a single row; pairs of blocks over a group's end") {
  const auto engines = test::engines_here();
  check_everywhere(engines, {"masked", "63,64,65,0,1", none, 20, 130, 66, "", false, false, "nan"});
  check_everywhere(engines, {"contiguous", "127,128,129,1", none, 20, 130, none, "", false, true, "nan"});
  check_everywhere(engines, {"contiguous", "255,256,257", none, 12, 40, none, "1x128", false, false, "nan"});
  check_everywhere(engines,
                   {"masked", "193,385,384", none, 7, 128, 400, "", false, false, "nan"});  // 192, 2 x 192
  check_everywhere(
      engines, {"masked", "23,24,25,47,48,49", none, 130, 17, 50, "1x128", false, false, "nan"});  // swapped
}

TEST_CASE("no rows in a group, in any group, in the room; no group; no K; no column") {
  const auto engines = test::engines_here();
  check_everywhere(engines, {"contiguous", "0,0,0", 200, 20, 130, none, "", false, true, "nan"});
  check_everywhere(engines,
                   {"contiguous", "0,0,5,0", none, 20, 130, none, "", false, false, "nan", "1,0,0,1,2"});
  check_everywhere(engines, {"contiguous", "0,0", none, 20, 130});
  check_everywhere(engines, {"masked", "0,0,0", none, 20, 130, 70, "1x128", false, false, "nan"});
  check_everywhere(engines, {"masked", "0,0", none, 20, 130});
  check_everywhere(engines, {"batched", "0", 5, 20, 130});
  check_everywhere(engines, {"batched", "2", 5, 20, 0});
  check_everywhere(engines, {"contiguous", "3,0,130", none, 20, 0});
  check_everywhere(engines, {"masked", "3,0,7", none, 20, 0, 9, "1x128"});
  check_everywhere(engines, {"masked", "3,0,7", none, 0, 64, 9});
  check_everywhere(engines, {"k-grouped", "0", 70, 20, none});
  check_everywhere(engines, {"k-grouped", "1,0,0,127,128,129,0", 70, 20, none});
}

TEST_CASE("contiguous rows of no group are zeros, whichever way the groups are said") {
  const auto engines = test::engines_here();
  const std::vector<std::int32_t> nobody(130, -1);
  Problem problem =
      problem_of({"contiguous", "0", 130, 20, 128, none, "", false, true}, Distribution::normal, 1);
  problem.groups = 0;
  problem.b = {};
  problem.b_scale = {};
  problem.group_ends = {};
  check_everywhere(engines, problem, "no group_ends");
  CHECK(make_engine("model")->run(problem, DType::f32, {}).d == std::vector<std::byte>(4 * 130 * 20));
  problem.m_indices = nobody;
  check_everywhere(engines, problem, "m_indices of -1");
}

TEST_CASE("c of any bits: NaN, infinities and subnormals, in whole slabs and in the last rows") {
  const auto engines = test::engines_here();
  for (const Case& each :
       {Case{"1d2d", "", 70, 36, 130, none, "", true},
        Case{"1d2d", "", 300, 40, 0, none, "", true},  // several tiles of a block, and slabs
        Case{"1d1d", "", 130, 72, 0, none, "", true}, Case{"1d1d", "", 193, 20, 130, none, "", true},
        Case{"1d2d", "", 300, 40, 0, none, "", true},  // several tiles of a block, and slabs
        Case{"1d1d", "", 130, 72, 0, none, "", true},
        Case{"k-grouped", "0,130,1", 70, 36, none, none, "1x128", true},
        Case{"k-grouped", "56,0", 257, 12, none, none, "128x128", true}}) {
    for (const Distribution distribution : {Distribution::any_c, Distribution::subnormal}) {
      check_everywhere(engines, problem_of(each, distribution, 5), each.text());
    }
    Problem problem = problem_of(each, Distribution::zeros, 5);
    const std::vector<float> c = awkward(problem.c.size());
    problem.c = c;
    check_everywhere(engines, problem, each.text() + ", awkward values");
  }
}

TEST_CASE("where nothing is added to c, d is c + 0: subnormals stay, a NaN is the card's, -0 is 0") {
  Problem problem = problem_of({"k-grouped", "0,3", 70, 17, none, none, "", true}, Distribution::normal, 5);
  const std::vector<float> c = awkward(problem.c.size());
  problem.c = c;
  for (const auto& engine : test::engines_here()) {
    const GemmConfig config = test::some_configs(product_of(problem).form, true)[0];
    const std::vector<u32> d = elements<u32>(engine->run(problem, DType::f32, test::options_of(config)).d);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 70 * 17; ++i) {
      const u32 bits = f32_bits(c[i]);
      wrong += d[i] != (is_nan(c[i]) ? 0x7fffffff : bits == 0x80000000 ? 0 : bits);
    }
    INFO(engine->name());
    CHECK(wrong == 0);
  }
}
