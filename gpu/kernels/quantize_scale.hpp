// From a block's amax to its scale and to what each x is multiplied with: a recipe's formula, step by rounded step.
//
//   amax   floored   ->   s = amax / 448   ->   a power of two?   ->   scale s, factor 1/s, or s, or 448/amax ...
//
// The same steps as block_scale() of emulator/number/recipe.cpp, which has them as float arithmetic; here what can be is
// integer work on bits.
#pragma once

#include "gpu/kernels/machine.hpp"
#include "gpu/kernels/quantize_config.hpp"

namespace fp8twin {

struct BlockFactor {
  float scale;   // stored
  float factor;  // each x is multiplied with it, or divided by it: divides()
};

/// With scales that are powers of two the inverse is exact, and every recipe multiplies.
template <class Config>
constexpr bool divides(Config config) {
  return config.quotient == QuotientFormula::divide && config.power == PowerFormula::none;
}

/// The largest f for which fl(log2(2^exponent * (1 + f * 2^-23))) is the integer `exponent` itself, so that ceil does
/// not see the fraction.
///
///   log2(1 + f * 2^-23) = f * 2^-23 / ln 2, all but     and it is lost below half a step of binary32 beside `exponent`:
///   exponent in [2^j, 2^(j+1))      2^(j-24)            f <= ln 2 * 2^(j-1) = 0.34, 0.69, 1.38, 2.77, 5.5, 11.1, 22.2
///   exponent in [-2^(j+1), -2^j)    the same: of a negative number the steps toward 0 are those of the next one
///
/// log2 of a fraction is irrational, so no tie; above, where log2 rounds up to the next integer, ceil says the same.
constexpr u32 fraction_lost_by_log2(i32 exponent) {
  const i32 size = exponent < 0 ? -1 - exponent : exponent;
  return size >= 64 ? 22 : size >= 32 ? 11 : size >= 16 ? 5 : size >= 8 ? 2 : size >= 4 ? 1 : 0;
}

/// 2^ceil(fl(log2(s))) for the bits of a normal s, or infinity, which stays.
constexpr u32 ceil_power_by_log2_bits(u32 s) {
  if (s == f32_infinity_bits) return s;
  const u32 field = s >> 23, fraction = s & 0x7fffff;
  return (field + (fraction > fraction_lost_by_log2(static_cast<i32>(field) - 127) ? 1 : 0)) << 23;
}

template <class Config>
FP8TWIN_DEVICE u32 power_of_two_bits(Config config, u32 s) {
  if (config.power == PowerFormula::ceil_log2) {
    return ceil_power_by_log2_bits(s < config.power_floor ? config.power_floor : s);
  }
  const u32 least = config.power == PowerFormula::ceil_bits_clamped ? 1 : 0;
  const u32 most = config.power == PowerFormula::ceil_bits_clamped ? 254 : 255;
  const u32 up = (s >> 23) + ((s & 0x7fffff) != 0 ? 1 : 0);
  return (up < least ? least : up > most ? most : up) << 23;
}

/// Transformer Engine's: the multiplier first, and its inverse stored.
template <class Config>
FP8TWIN_DEVICE BlockFactor factor_from_multiplier(Config config, u32 amax) {
  u32 multiplier = f32_one_bits;
  if (amax != 0 && amax < f32_infinity_bits) {
    multiplier = mov_b32_f32(div_rn(448.0f, mov_f32_b32(amax)));
    if (multiplier == f32_infinity_bits) multiplier = largest_input_bits(config.input);
    if (config.power == PowerFormula::floor_multiplier) multiplier &= f32_infinity_bits;
  }
  const float factor = mov_f32_b32(multiplier);
  return {div_rn(1.0f, factor), factor};
}

/// `amax`: the bits of the largest |x| of the block.
template <class Config>
FP8TWIN_DEVICE BlockFactor block_factor(Config config, u32 amax) {
  if (amax < config.amax_floor) amax = config.amax_floor;  // a NaN is larger, and stays
  if (config.scale == ScaleFormula::from_multiplier) return factor_from_multiplier(config, amax);

  const float largest = mov_f32_b32(amax);
  const float s =
      config.scale == ScaleFormula::divide ? div_rn(largest, 448.0f) : mul_rn(largest, 1.0f / 448.0f);
  if (config.power != PowerFormula::none) {
    const float power = mov_f32_b32(power_of_two_bits(config, mov_b32_f32(s) & f32_magnitude));
    return {power, div_rn(1.0f, power)};
  }
  if (config.quotient == QuotientFormula::times_reciprocal) return {s, div_rn(1.0f, s)};
  if (config.quotient == QuotientFormula::times_448_over_amax) return {s, div_rn(448.0f, largest)};
  if (config.quotient == QuotientFormula::times_448_times_reciprocal) {
    return {s, mul_rn(448.0f, div_rn(1.0f, largest))};
  }
  return {s, s};
}

}  // namespace fp8twin
