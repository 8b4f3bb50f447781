#include "emulator/number/recipe.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "emulator/support/error.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

constexpr float f32_max = std::numeric_limits<float>::max();
constexpr float infinity = std::numeric_limits<float>::infinity();

BlockScale scale_of(std::string_view recipe, float amax, ScaleFormat format = ScaleFormat::f32,
                    float input_max = f32_max) {
  return block_scale(recipe_from_name(recipe), format, amax, input_max);
}

/// The code of x in a block whose largest magnitude is amax.
int code_of(const Recipe& recipe, float amax, float x) {
  const BlockScale by = block_scale(recipe, ScaleFormat::f32, amax, f32_max);
  return encode_e4m3(by.divide ? x / by.factor : x * by.factor, recipe.cast);
}
int code_of(std::string_view recipe, float amax, float x) {
  return code_of(recipe_from_name(recipe), amax, x);
}

Recipe formula(ScaleRule scale, QuotientRule quotient) {
  Recipe recipe{.name = "test", .origin = "", .arithmetic = ""};
  recipe.scale = scale;
  recipe.quotient = quotient;
  return recipe;
}

int byte_of(std::string_view recipe, float amax) {
  const std::uint32_t bits = f32_bits(scale_of(recipe, amax, ScaleFormat::ue8m0).scale);
  CHECK((bits & 0x7fffff) == 0);
  return static_cast<int>(bits >> 23);
}

}  // namespace

TEST_CASE("recipes are found by name, and an unknown name lists them") {
  CHECK(all_recipes().size() == 7);
  for (const Recipe& recipe : all_recipes()) CHECK(&recipe_from_name(recipe.name) == &recipe);
  try {
    recipe_from_name("deepgem");
    FAIL("an unknown recipe was accepted");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "recipe 'deepgem' is unknown: needed is one of deepgemm, deepgemm-cpu, deepseek, "
          "vllm, sglang, eager, te");
  }
}

TEST_CASE("amax 6.5, x 2.4375: the order of operations shows") {
  CHECK(code_of("deepgemm", 6.5f, 2.4375f) == 0x72);
  CHECK(code_of("deepgemm-cpu", 6.5f, 2.4375f) == 0x73);
  CHECK(code_of("vllm", 6.5f, 2.4375f) == 0x72);      // true division, x / s
  CHECK(code_of("deepseek", 6.5f, 2.4375f) == 0x72);  // the same
  CHECK(code_of("te", 6.5f, 2.4375f) == 0x73);        // x * (448 / amax)
  CHECK(code_of("sglang", 6.5f, 2.4375f) == 0x73);    // the same
  CHECK(code_of("eager", 6.5f, 2.4375f) == 0x73);     // x * (448 * (1 / amax))
  CHECK(f32_bits(scale_of("deepgemm", 6.5f).scale) == 0x3c6db6dc);
  CHECK(f32_bits(scale_of("deepgemm-cpu", 6.5f).scale) == 0x3c6db6db);
}

TEST_CASE("amax 4.75, x 3.5625: three forms, on CUDA and on the CPU") {
  const auto code = [](ScaleRule scale, QuotientRule quotient) {
    return code_of(formula(scale, quotient), 4.75f, 3.5625f);
  };
  CHECK(code(ScaleRule::multiply, QuotientRule::times_reciprocal) == 0x7a);  // CUDA
  CHECK(code(ScaleRule::multiply, QuotientRule::divide) == 0x7a);
  CHECK(code(ScaleRule::multiply, QuotientRule::times_448_times_reciprocal) == 0x7a);
  CHECK(code(ScaleRule::divide, QuotientRule::times_reciprocal) == 0x7b);  // CPU
  CHECK(code(ScaleRule::divide, QuotientRule::divide) == 0x7a);
  CHECK(code(ScaleRule::divide, QuotientRule::times_448_times_reciprocal) == 0x7a);
  CHECK(code_of("deepgemm", 4.75f, 3.5625f) == 0x7a);
  CHECK(code_of("deepgemm-cpu", 4.75f, 3.5625f) == 0x7b);
}

TEST_CASE("UE8M0 scale bytes of amax 448, 449, 224 and 4.8046875, by every recipe") {
  for (const Recipe& recipe : all_recipes()) {
    INFO(recipe.name);
    CHECK(byte_of(recipe.name, 448.0f) == 0x7f);
    CHECK(byte_of(recipe.name, 449.0f) == 0x80);
    CHECK(byte_of(recipe.name, 224.0f) == 0x7e);
    CHECK(byte_of(recipe.name, 4.8046875f) == 0x79);
  }
}

TEST_CASE("just above a power of two, a ceil by log2 stays a binade lower than a ceil by bits") {
  const float amax =
      std::nextafterf(448.0f / 1024, infinity);  // s = 2^-10 and one step, whose log2 rounds to -10
  CHECK(f32_bits(scale_of("deepgemm-cpu", amax).scale) == f32_bits(std::nextafterf(0x1p-10f, 1.0f)));
  CHECK(scale_of("deepgemm-cpu", amax, ScaleFormat::ue8m0).scale == 0x1p-9f);
  CHECK(scale_of("vllm", amax, ScaleFormat::ue8m0).scale == 0x1p-10f);
  CHECK(scale_of("deepseek", amax, ScaleFormat::ue8m0).scale == 0x1p-10f);
}

TEST_CASE("zero and tiny blocks: the floor, or what stands for it") {
  for (const float amax : {0.0f, 0x1p-149f, 1e-12f}) {
    CHECK(scale_of("deepgemm", amax).scale == 1e-4f * (1.0f / 448.0f));
    CHECK(scale_of("deepgemm-cpu", amax).scale == 1e-4f / 448.0f);
    CHECK(scale_of("deepseek", amax).scale == 1e-4f / 448.0f);
    CHECK(scale_of("eager", amax).scale == 1e-4f * (1.0f / 448.0f));
    CHECK(scale_of("vllm", amax).scale == 1e-10f / 448.0f);
    CHECK(scale_of("sglang", amax).scale == 1e-10f * (1.0f / 448.0f));
  }
  CHECK(scale_of("vllm", 0.0f, ScaleFormat::ue8m0).scale == 0x1p-33f);  // 1e-10 rounded up
  CHECK(scale_of("te", 0.0f).scale == 1.0f);
  CHECK(scale_of("te", 0x1p-149f).factor == f32_max);  // 448 / amax is beyond binary32
  CHECK(scale_of("te", 0x1p-133f, ScaleFormat::f32, 0x1.fep127f).factor == 0x1.fep127f);
  CHECK(scale_of("te", 0x1p-149f, ScaleFormat::ue8m0).factor == 0x1p127f);
  CHECK(scale_of("te", 0x1p-149f, ScaleFormat::ue8m0).scale == 0x1p-127f);
}

TEST_CASE("huge blocks neither overflow nor lose their largest element") {
  for (const Recipe& recipe : all_recipes()) {
    INFO(recipe.name);
    const BlockScale by = block_scale(recipe, ScaleFormat::f32, f32_max, f32_max);
    CHECK(std::isfinite(by.scale));
    CHECK(by.factor > 0);
    CHECK(code_of(recipe, f32_max, f32_max) == 0x7e);
    CHECK(code_of(recipe, f32_max, -f32_max) == 0xfe);
  }
}

TEST_CASE("NaN and infinite blocks") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* recipe : {"deepgemm", "deepgemm-cpu", "eager"}) {
    INFO(recipe);
    CHECK(f32_bits(scale_of(recipe, nan).scale) == 0x7fffffff);
    CHECK(code_of(recipe, nan, 1.0f) == 0x7f);
    CHECK(scale_of(recipe, infinity).scale == infinity);
    CHECK(code_of(recipe, infinity, -1.0f) == 0x80);
    CHECK(code_of(recipe, infinity, infinity) == 0x7f);  // infinity times zero
    CHECK(scale_of(recipe, nan, ScaleFormat::ue8m0).scale == 0x1p127f);
    CHECK(scale_of(recipe, infinity, ScaleFormat::ue8m0).scale == 0x1p127f);
  }
  CHECK(code_of("deepseek", infinity, infinity) == 0x7f);
  CHECK(code_of("vllm", infinity, infinity) ==
        0xfe);  // infinity / infinity is NaN, and the clamp makes it -448
  CHECK(code_of("sglang", infinity, infinity) == 0x7f);
  CHECK(scale_of("sglang", infinity, ScaleFormat::ue8m0).scale == infinity);
  CHECK(scale_of("te", infinity).scale == 1.0f);
  CHECK(code_of("te", infinity, infinity) == 0x7e);
  CHECK(code_of("te", infinity, 1.0f) == 0x38);
}
