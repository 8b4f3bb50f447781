// Quantisation recipes: how well-known implementations turn a block of numbers into E4M3 codes and a scale.
//
//      amax = max |x| over the block           which NaN rule?        floored at what?
//      s    = amax / 448                       a division, or a multiplication by fl(1/448)?
//      q    = x / s                            or x * (1/s), or x * (448 / amax)?       then a cast to E4M3
//
// In real numbers they are one formula. In binary32 each order of operations rounds elsewhere, and x / s
// often falls on or beside a midpoint of E4M3, since BF16 inputs have few bits: between two recipes a few
// codes in ten thousand differ, and more than half of all scales in their last bit. So a recipe is a formula and
// the place where it ran: PyTorch turns `amax / 448.0` into a multiplication by fl(1/448) on a CUDA tensor
// and divides on a CPU tensor.
//
// A recipe here is a row of data, written after reading the original's source. "Exact" means that every step
// of the original is an IEEE operation, done here in the same order; what was measured on a card is on the
// page docs/numerics.md. "IEEE stand-in": the original uses approximate division or fast math; the same
// formula in correctly rounded steps stands here, and no bit equality is claimed. Special blocks: see
// quantize.hpp.
#pragma once

#include <span>
#include <string_view>

#include "emulator/number/e4m3_fast.hpp"

namespace fp8twin {

/// What a NaN in the block does to amax.
enum class AmaxNan {
  propagate,  // torch.amax, torch.clamp: amax is NaN
  ignore,     // fmaxf, tl.max: amax is that of the other elements, 0 where there are none
};

/// The scale that is stored, and multiplied back when a code is read.
enum class ScaleRule {
  divide,    // fl(amax / 448)
  multiply,  // fl(amax * fl(1/448))
  /// fl(1 / fl(448 / amax)). The multiplier 448 / amax is 1 for amax 0 or infinite, and the largest finite
  /// value of the input's format where it would be infinite.
  from_multiplier,
};

/// What is cast to E4M3.
enum class QuotientRule {
  times_reciprocal,           // fl(x * fl(1/s))
  divide,                     // fl(x / s)
  times_448_over_amax,        // fl(x * fl(448 / amax))
  times_448_times_reciprocal  // fl(x * fl(448 * fl(1/amax))): what `448.0 / tensor` is in PyTorch
};

/// How a scale becomes a power of two. Only the last one rounds the multiplier instead, and down.
enum class PowerRule {
  ceil_bits_clamped,  // exponent field, plus one for a fraction, clamped to 1..254; NaN, infinity: 2^127
  ceil_bits,          // the same, not clamped: infinity stays infinity
  ceil_log2,          // 2^ceil(fl(log2(s))): a binade lower where log2 rounds down to an integer
  floor_multiplier,   // fl(448 / amax) loses its fraction bits, and s is its inverse
};

struct Recipe {
  std::string_view name;
  std::string_view origin;      // the implementation, one line
  std::string_view arithmetic;  // "exact", or what the stand-in stands for
  bool ieee_stand_in = false;   // no bit equality with the original is claimed

  AmaxNan amax_nan = AmaxNan::propagate;
  float amax_floor = 0;
  ScaleRule scale = ScaleRule::divide;
  QuotientRule quotient = QuotientRule::divide;
  E4M3Cast cast = cast_satfinite;
  PowerRule power = PowerRule::ceil_bits_clamped;
  float power_floor = 0;  // smallest s that ceil_log2 sees
};

std::span<const Recipe> all_recipes();
/// The recipe called `name`, or an Error that lists the names.
const Recipe& recipe_from_name(std::string_view name);

enum class ScaleFormat {
  f32,    // any positive binary32
  ue8m0,  // a power of two, still stored as binary32: on Hopper no instruction takes UE8M0
};

std::string_view scale_format_name(ScaleFormat format);  // "f32", "ue8m0"

/// What a recipe does with each x of a block: cast(x * factor), or cast(x / factor).
struct BlockScale {
  float scale;
  float factor;
  bool divide;
};

/// `amax` is the largest |x| of the block, NaN if any x is NaN and the recipe propagates it; `input_max` the
/// largest finite value of the format that x came in.
BlockScale block_scale(const Recipe& recipe, ScaleFormat format, float amax, float input_max);

}  // namespace fp8twin
