// The oracle of the recipes: each implementation's formula written out by name, one number at a time.
//
// Every binary32 operation is done in double and rounded to float: for +, -, *, / that is the correctly
// rounded result (53 bits are more than twice 24 and two). Rounding to E4M3 is the search among midpoints of
// nearest_oracle.hpp. Nothing of emulator/number is used.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "tests/number/nearest_oracle.hpp"

namespace fp8twin::test {

struct Block {
  std::vector<std::uint8_t> codes;
  float scale;
};

namespace oracle {

inline float product(float a, float b) {
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b));
}
inline float quotient(float a, float b) {
  return static_cast<float>(static_cast<double>(a) / static_cast<double>(b));
}

inline std::uint8_t saturating(float x) {
  if (std::isnan(x)) return 0x7f;
  const std::uint32_t code = e4m3_oracle().round(static_cast<double>(x));
  return static_cast<std::uint8_t>((code & 0x7f) == 0x7f ? code - 1 : code);
}
inline std::uint8_t plain(float x) {
  return std::isnan(x) ? std::uint8_t{0x7f}
                       : static_cast<std::uint8_t>(e4m3_oracle().round(static_cast<double>(x)));
}

/// The smallest power of two >= s, for positive finite s.
inline float power_above(float s) {
  int exponent;
  const double fraction =
      std::frexp(static_cast<double>(s), &exponent);  // s = fraction * 2^exponent, 0.5 <= fraction < 1
  return static_cast<float>(std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent));
}
/// The largest power of two <= s.
inline float power_below(float s) {
  int exponent;
  std::frexp(static_cast<double>(s), &exponent);
  return static_cast<float>(std::ldexp(1.0, exponent - 1));
}
inline float power_by_log(float s) {
  return std::exp2(std::ceil(static_cast<float>(std::log2(static_cast<double>(s)))));
}

/// The largest |x|. Not by std::fmax: a signalling NaN makes that return NaN, where the GPU's maximum ignores
/// it.
inline float amax_without_nan(const std::vector<float>& x) {
  float amax = 0;
  for (const float v : x) {
    if (!std::isnan(v) && std::fabs(v) > amax) amax = std::fabs(v);
  }
  return amax;
}
inline float amax_with_nan(const std::vector<float>& x) {
  for (const float v : x) {
    if (std::isnan(v)) return std::numeric_limits<float>::quiet_NaN();
  }
  return amax_without_nan(x);
}

}  // namespace oracle

/// The block x by recipe `name`; `ue8m0`: power-of-two scales; `input_max`: largest finite value of x's
/// format.
inline Block quantize_block(std::string_view name, bool ue8m0, const std::vector<float>& x, float input_max) {
  using namespace oracle;
  Block block{{}, 0};
  const auto emit = [&](std::uint8_t code) { block.codes.push_back(code); };
  const float one_448th = quotient(1.0f, 448.0f);

  if (name == "deepgemm" || name == "deepgemm-cpu" || name == "eager") {
    float amax = amax_with_nan(x);
    if (!std::isnan(amax)) amax = std::fmax(amax, 1e-4f);
    float sf = name == "deepgemm-cpu" ? quotient(amax, 448.0f) : product(amax, one_448th);
    if (ue8m0) sf = std::isfinite(sf) ? power_above(sf) : std::ldexp(1.0f, 127);
    float factor = quotient(1.0f, sf);
    if (name == "eager" && !ue8m0) factor = product(quotient(1.0f, amax), 448.0f);
    for (const float v : x) emit(plain(product(v, factor)));
    block.scale = sf;
  } else if (name == "deepseek" || name == "vllm") {
    const bool vllm = name == "vllm";
    const float amax = std::fmax(amax_without_nan(x), vllm ? 1e-10f : 1e-4f);
    float s = quotient(amax, 448.0f);
    if (ue8m0) s = power_by_log(vllm ? std::fmax(s, 1e-10f) : s);
    for (const float v : x) {
      const float y = quotient(v, s);
      emit(vllm ? saturating(std::fmin(std::fmax(y, -448.0f), 448.0f)) : saturating(y));
    }
    block.scale = s;
  } else if (name == "sglang") {
    const float amax = std::fmax(amax_without_nan(x), 1e-10f);
    float s = product(amax, one_448th), factor = quotient(448.0f, amax);
    if (ue8m0 && std::isfinite(s)) {
      s = power_above(s);
      factor = quotient(1.0f, s);
    }
    for (const float v : x) emit(saturating(product(v, factor)));
    block.scale = s;
  } else if (name == "te") {
    const float amax = amax_without_nan(x);
    float factor = 1.0f;
    if (amax > 0 && std::isfinite(amax)) {
      factor = quotient(448.0f, amax);
      if (!std::isfinite(factor)) factor = input_max;
      if (ue8m0) factor = power_below(factor);
    }
    for (const float v : x) emit(saturating(product(v, factor)));
    block.scale = quotient(1.0f, factor);
  }
  return block;
}

}  // namespace fp8twin::test
