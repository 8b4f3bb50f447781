// Host arrays as a launch takes them: groups along K moved apart, scales transposed in fours of places, c; and what is said when
// a kernel has written where it must not.
#include "gpu/launch/gemm_data.hpp"

#include <functional>
#include <numeric>
#include <string>

#include "emulator/support/error.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

template <class T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 251 + 1);
  return values;
}

std::vector<u8> bytes_of(const std::vector<float>& values) {
  const u8* bytes = reinterpret_cast<const u8*>(values.data());
  return {bytes, bytes + 4 * values.size()};
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

LaunchPlan plan_of(const Product& product, bool output_f32 = false) {
  return plan_gemm(product, {.step = 8, .tile_m = 64, .tile_n = 16, .stages = 2, .output_f32 = output_f32},
                   4);
}

/// Three groups along K, of 200, 0 and 56.
struct AlongK {
  i64 m = 5, n = 3, k = 256;
  std::vector<u8> a = counted<u8>(5 * 256), b = counted<u8>(3 * 256);
  std::vector<float> a_scale = counted<float>(5 * 3), b_scale, c = counted<float>(3 * 5 * 3);
  Product product;

  explicit AlongK(bool per_row, bool with_c = false) {
    b_scale = counted<float>(per_row ? 3 * 3 : 3);
    if (!with_c) c.clear();
    product = {.form = {Grouping::along_k, per_row, with_c},
               .m = m,
               .n = n,
               .k = k,
               .groups = 3,
               .k_sizes = {200, 0, 56}};
  }
  GemmOperands operands() const { return {a, a_scale, b, b_scale, c}; }
};

/// A masked problem of two groups with room for three rows, two and none of which count.
struct Masked {
  std::vector<u8> a = counted<u8>(2 * 3 * 16), b = counted<u8>(2 * 5 * 16);
  std::vector<float> a_scale = counted<float>(6), b_scale = counted<float>(2);
  std::vector<i32> counts = {2, 0};
  LaunchPlan plan =
      plan_of({.form = {.grouping = Grouping::masked}, .m = 3, .n = 5, .k = 16, .groups = 2, .rows = {2, 0}});
  GemmOperands operands() const { return {a, a_scale, b, b_scale, {}, counts}; }
};

}  // namespace

TEST_CASE(
    "groups along K begin on K blocks of their own; partial ones end in zeros, empty ones are one of zeros") {
  for (const bool per_row : {false, true}) {
    const AlongK problem(per_row);
    const LaunchPlan plan = plan_of(problem.product);
    const ArrangedOperands to = arranged(plan, problem.operands());
    CHECK(plan.k == 4 * 128);
    CHECK(to.group_table == std::vector<u32>{0, 2, 2, 1, 3, 1});
    REQUIRE(plan.a_stride == 512);
    REQUIRE(to.a.size() == 5 * 512);
    REQUIRE(to.b.size() == 3 * 512);
    u32 wrong = 0;
    for (u32 column = 0; column < 512; ++column) {
      const i64 at = column, from = at < 200 ? at : at >= 384 && at < 440 ? at - 184 : -1;
      for (u32 row = 0; row < 5; ++row)
        wrong += to.a[512 * row + column] != (from < 0 ? 0 : problem.a[static_cast<u32>(256 * row + from)]);
      for (u32 row = 0; row < 3; ++row)
        wrong += to.b[512 * row + column] != (from < 0 ? 0 : problem.b[static_cast<u32>(256 * row + from)]);
    }
    const int from_block[] = {0, 1, -1, 2};  // the empty group's has no scale in the file
    REQUIRE(plan.a_scale_stride == 8);
    REQUIRE(to.a_scale.size() == 4 * 8);
    for (u32 block = 0; block < 4; ++block) {
      for (u32 row = 0; row < 8; ++row) {
        const bool some = row < 5 && from_block[block] >= 0;
        wrong += to.a_scale[8 * block + row] !=
                 (some ? problem.a_scale[3 * row + static_cast<u32>(from_block[block])] : 0);
      }
      for (u32 row = 0; row < (per_row ? 3u : 1u); ++row) {
        const std::size_t at = per_row ? 4 * block + row : block;  // transposed, or as in the file
        wrong +=
            to.b_scale[at] !=
            (from_block[block] >= 0 ? problem.b_scale[3 * row + static_cast<u32>(from_block[block])] : 0);
      }
    }
    CHECK(to.b_scale.size() == (per_row ? 16u : 4u));
    CHECK(wrong == 0);
  }
}

TEST_CASE("transposed scales: each group's rows take whole fours of places, and begin on 16 bytes") {
  for (const u64 groups : {0u, 1u, 3u}) {
    for (const u64 rows : {0u, 1u, 4u, 5u, 130u}) {
      for (const u64 k_blocks : {0u, 1u, 3u}) {
        const std::vector<float> scales = counted<float>(groups * rows * k_blocks);
        const u64 places = (rows + 3) / 4 * 4, stride = std::max<u64>(groups * places, 4);
        std::vector<float> left = transposed_scales(scales, groups, rows, k_blocks, stride);
        REQUIRE(left.size() == k_blocks * stride);
        u32 wrong = 0;
        for (u64 i = 0; i < scales.size(); ++i) {
          const u64 block = i % k_blocks, row = i / k_blocks % rows, group = i / k_blocks / rows;
          float& to = left[block * stride + group * places + row];
          wrong += to != scales[i];
          to = 0;
        }
        for (const float padding : left) wrong += padding != 0;
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("a plan's places for scales are multiples of four for each group, of A and of 1D1D's B") {
  const auto places = [](Grouping grouping) {
    Product product{.form = {grouping, true, false}, .m = 5, .n = 6, .k = 256, .groups = 3};
    if (grouping == Grouping::along_k) product.k_sizes = {200, 0, 56};
    const LaunchPlan plan = plan_of(product);
    return std::pair(plan.a_scale_stride, plan.b_scale_stride);
  };
  CHECK(places(Grouping::batched) == std::pair<u64, u64>(24, 24));
  CHECK(places(Grouping::masked) == std::pair<u64, u64>(24, 24));
  CHECK(places(Grouping::contiguous) == std::pair<u64, u64>(8, 24));
  CHECK(places(Grouping::along_k) == std::pair<u64, u64>(8, 8));
}

TEST_CASE("an FP32 D begins as c, and what lies between its rows as 0xff; beside a BF16 D lies c") {
  const AlongK problem(true, true);
  const LaunchPlan f32 = plan_of(problem.product, true), bf16 = plan_of(problem.product);
  const ArrangedOperands begins = arranged(f32, problem.operands()),
                         beside = arranged(bf16, problem.operands());
  REQUIRE(f32.d_stride == 4);
  REQUIRE(begins.d.size() == 15 * 16);
  CHECK(begins.c.empty());
  REQUIRE(bf16.d_stride == 8);
  REQUIRE(beside.c.size() == 15 * 8);
  CHECK(beside.d == std::vector<u8>(15 * 16, 0xff));
  const std::vector<u8> c = bytes_of(problem.c), c_beside = bytes_of(beside.c);
  u32 wrong = 0;
  for (u32 row = 0; row < 15; ++row) {
    for (u32 byte = 0; byte < 16; ++byte) {
      wrong += begins.d[16 * row + byte] != (byte < 12 ? c[12 * row + byte] : 0xff);
      if (byte < 12) wrong += c_beside[32 * row + byte] != c[12 * row + byte];
    }
  }
  CHECK(wrong == 0);
  CHECK(result_of(f32, problem.operands(), begins.d) == c);
}

TEST_CASE("a result: without padding, rows past a mask zero; a write where none belongs is said") {
  const Masked masked;
  const LaunchPlan& plan = masked.plan;
  REQUIRE(plan.d_stride == 8);
  std::vector<u8> d(plan.d_bytes(), 0xff);
  for (u32 row = 0; row < 2; ++row) {
    for (u32 byte = 0; byte < 10; ++byte) d[16 * row + byte] = static_cast<u8>(10 * row + byte);
  }
  const auto said = [&](u32 byte) {
    std::vector<u8> touched = d;
    touched[byte] = 0;
    return refusal([&] { result_of(plan, masked.operands(), touched); });
  };
  std::vector<u8> expected(6 * 10);
  std::iota(expected.begin(), expected.begin() + 20, u8{0});
  CHECK(result_of(plan, masked.operands(), d) == expected);
  CHECK_THAT(said(2 * 16), contains_text("has written row 2 of group 0 of d, past the mask's 2"));
  CHECK_THAT(said(3 * 16 + 9), contains_text("has written row 0 of group 1 of d, past the mask's 0"));
  CHECK(said(0) == "");
  CHECK(said(10) == "");  // between two rows nobody looks
}

TEST_CASE("operands that do not fit their plan are a sentence") {
  const Masked masked;
  const auto said = [&](const std::function<void(GemmOperands&)>& change) {
    GemmOperands operands = masked.operands();
    change(operands);
    return refusal([&] { check_operands(masked.plan, operands, {}); });
  };
  CHECK(said([](GemmOperands&) {}) == "");
  CHECK(said([](GemmOperands& o) { o.a = o.a.first(95); }) == "a has 95 elements: 96 are needed");
  CHECK(said([](GemmOperands& o) { o.b = o.b.first(0); }) == "b has 0 elements: 160 are needed");
  CHECK(said([](GemmOperands& o) { o.a_scale = o.a_scale.first(5); }) ==
        "a_scale has 5 elements: 6 are needed");
  CHECK(said([](GemmOperands& o) { o.b_scale = o.b_scale.first(1); }) ==
        "b_scale has 1 elements: 2 are needed");
  CHECK(said([](GemmOperands& o) { o.c = o.a_scale; }) == "c has 6 elements: 0 are needed");
  CHECK(said([](GemmOperands& o) { o.groups = {}; }) == "the array of groups has 0 elements: 2 are needed");

  LaunchPlan traced = masked.plan;
  traced.config.trace = true;
  const auto trace = [&](const TraceArguments& where) {
    return refusal([&] { check_operands(traced, masked.operands(), where); });
  };
  CHECK(trace({.group = 0}) == "");
  CHECK(trace({.group = 2}) == "there is no group 2; the problem has 2");
  CHECK_THAT(trace({.group = 1}), contains_text("D is 0 x 5 and has 0 along M"));  // of its rows that count
  CHECK_THAT(trace({.tile_m = 1, .group = 0}), contains_text("there is no tile 1,0"));
}
