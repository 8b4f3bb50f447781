#include "emulator/number/recipe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float one_448th = 1.0f / 448.0f;

constexpr std::array recipes{
    Recipe{.name = "deepgemm",
           .origin = "DeepGEMM's per_token_cast_to_fp8 and per_block_cast_to_fp8, on CUDA tensors",
           .arithmetic = "exact",
           .amax_nan = AmaxNan::propagate,
           .amax_floor = 1e-4f,
           .scale = ScaleRule::multiply,
           .quotient = QuotientRule::times_reciprocal,
           .cast = cast_nonsaturating,
           .power = PowerRule::ceil_bits_clamped},
    Recipe{.name = "deepgemm-cpu",
           .origin = "the same functions on CPU tensors",
           .arithmetic = "exact, but for the sign of a NaN code, which depends on the processor: 0x7f here",
           .amax_nan = AmaxNan::propagate,
           .amax_floor = 1e-4f,
           .scale = ScaleRule::divide,
           .quotient = QuotientRule::times_reciprocal,
           .cast = cast_nonsaturating,
           .power = PowerRule::ceil_bits_clamped},
    Recipe{.name = "deepseek",
           .origin = "DeepSeek-V3's act_quant, a Triton kernel, with its later floor",
           .arithmetic = "IEEE stand-in for Triton's approximate division, log2 and exp2",
           .ieee_stand_in = true,
           .amax_nan = AmaxNan::ignore,
           .amax_floor = 1e-4f,
           .scale = ScaleRule::divide,
           .quotient = QuotientRule::divide,
           .cast = cast_satfinite,
           .power = PowerRule::ceil_log2},
    Recipe{.name = "vllm",
           .origin = "vLLM's per_token_group_quant_fp8, a CUDA kernel",
           .arithmetic = "exact with f32 scales; with ue8m0, IEEE stand-in for CUDA's log2f",
           .amax_nan = AmaxNan::ignore,
           .amax_floor = 1e-10f,
           .scale = ScaleRule::divide,
           .quotient = QuotientRule::divide,
           .cast = cast_clamped,
           .power = PowerRule::ceil_log2,
           .power_floor = 1e-10f},
    Recipe{.name = "sglang",
           .origin = "SGLang's sgl_per_token_group_quant_fp8, a CUDA kernel",
           .arithmetic = "IEEE stand-in for approximate division under fast math",
           .ieee_stand_in = true,
           .amax_nan = AmaxNan::ignore,
           .amax_floor = 1e-10f,
           .scale = ScaleRule::multiply,
           .quotient = QuotientRule::times_448_over_amax,
           .cast = cast_satfinite,
           .power = PowerRule::ceil_bits},
    Recipe{
        .name = "eager",
        .origin =
            "PyTorch, x * (448.0 / amax) with amax / 448.0 stored, on CUDA tensors: DeepGEMM's first release",
        .arithmetic = "exact; the original has no ue8m0, deepgemm's rule stands there",
        .amax_nan = AmaxNan::propagate,
        .amax_floor = 1e-4f,
        .scale = ScaleRule::multiply,
        .quotient = QuotientRule::times_448_times_reciprocal,
        .cast = cast_nonsaturating,
        .power = PowerRule::ceil_bits_clamped},
    Recipe{.name = "te",
           .origin = "Transformer Engine's Float8BlockScaling (its default is ue8m0)",
           .arithmetic = "exact",
           .amax_nan = AmaxNan::ignore,
           .amax_floor = 0,
           .scale = ScaleRule::from_multiplier,
           .quotient = QuotientRule::times_448_over_amax,
           .cast = cast_satfinite,
           .power = PowerRule::floor_multiplier},
};

float ceil_power_by_bits(float s, std::uint32_t least, std::uint32_t most) {
  const std::uint32_t bits = f32_bits(s) & ~f32_sign;
  const std::uint32_t up = (bits >> 23) + ((bits & 0x7fffff) ? 1u : 0u);
  return f32_from_bits(std::clamp(up, least, most) << 23);
}

float ceil_power_by_log2(float s) {
  if (s == infinity) return s;
  // log2 in double, rounded to float, is the correctly rounded log2f but for astronomically rare cases, of
  // which none lies near an integer, where ceil would see it.
  return power_of_two(static_cast<int>(std::ceil(static_cast<float>(std::log2(static_cast<double>(s))))));
}

float power_of_two_scale(const Recipe& recipe, float s) {
  switch (recipe.power) {
    case PowerRule::ceil_bits_clamped:
      return ceil_power_by_bits(s, 1, 254);
    case PowerRule::ceil_bits:
      return ceil_power_by_bits(s, 0, 255);
    default:
      return ceil_power_by_log2(std::max(s, recipe.power_floor));
  }
}

/// Transformer Engine computes the multiplier first and stores its inverse.
BlockScale scale_from_multiplier(ScaleFormat format, float amax, float input_max) {
  float multiplier = 1.0f;
  if (amax != 0 && !is_infinite(amax) && !is_nan(amax)) {
    multiplier = 448.0f / amax;
    if (is_infinite(multiplier)) multiplier = input_max;
    if (format == ScaleFormat::ue8m0) multiplier = f32_from_bits(f32_bits(multiplier) & f32_infinity);
  }
  return {1.0f / multiplier, multiplier, false};
}

}  // namespace

BlockScale block_scale(const Recipe& recipe, ScaleFormat format, float amax, float input_max) {
  if (amax < recipe.amax_floor) amax = recipe.amax_floor;  // a NaN stays
  if (recipe.scale == ScaleRule::from_multiplier) return scale_from_multiplier(format, amax, input_max);

  float s = recipe.scale == ScaleRule::divide ? canonical(amax / 448.0f) : mul_rn(amax, one_448th);
  if (format == ScaleFormat::ue8m0) {
    // The inverse of a power of two is exact, so that all quotients agree.
    s = power_of_two_scale(recipe, s);
    return {s, 1.0f / s, false};
  }
  switch (recipe.quotient) {
    case QuotientRule::times_reciprocal:
      return {s, canonical(1.0f / s), false};
    case QuotientRule::divide:
      return {s, s, true};
    case QuotientRule::times_448_over_amax:
      return {s, canonical(448.0f / amax), false};
    case QuotientRule::times_448_times_reciprocal:
      return {s, mul_rn(448.0f, canonical(1.0f / amax)), false};
  }
  return {s, s, true};
}

std::span<const Recipe> all_recipes() { return recipes; }

const Recipe& recipe_from_name(std::string_view name) {
  std::string names;
  for (const Recipe& recipe : recipes) {
    if (recipe.name == name) return recipe;
    names += (names.empty() ? "" : ", ") + std::string(recipe.name);
  }
  throw Error(fmt::format("recipe '{}' is unknown: needed is one of {}", name, names));
}

std::string_view scale_format_name(ScaleFormat format) {
  return format == ScaleFormat::f32 ? "f32" : "ue8m0";
}

}  // namespace fp8twin
