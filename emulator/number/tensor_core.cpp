#include "emulator/number/tensor_core.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "emulator/number/e4m3.hpp"
#include "emulator/number/float_bits.hpp"

namespace fp8twin {
namespace {

constexpr int no_exponent = std::numeric_limits<int>::min();

DotTerm product(E4M3 a, E4M3 b) {
  const int magnitude = a.significand() * b.significand();  // 3 + 3 fraction bits
  return {a.is_negative() != b.is_negative() ? -magnitude : magnitude, a.exponent() + b.exponent()};
}

DotTerm addend(float c) {
  const std::uint32_t bits = f32_bits(c), field = (bits >> 23) & 0xff;
  const std::int64_t magnitude = (bits & 0x7fffff) | (field ? 0x800000u : 0u);  // 23 fraction bits
  return {bits & f32_sign ? -magnitude : magnitude, (field ? static_cast<int>(field) : 1) - 127};
}

/// significand * 2^(-own_fraction) at `exponent`, in units of 2^(top - fraction_bits), truncated toward zero.
std::int64_t align(const DotTerm& term, int own_fraction, int top, int fraction_bits) {
  const int shift = fraction_bits - own_fraction - (top - term.exponent);
  const std::int64_t magnitude = std::abs(term.significand);
  const std::int64_t moved = shift >= 0 ? magnitude << shift : shift > -63 ? magnitude >> -shift : 0;
  return term.significand < 0 ? -moved : moved;
}

/// sum * 2^unit truncated toward zero to `output_bits` fraction bits; below 2^-126 to multiples of 2^(-126-output_bits).
float truncate(std::int64_t sum, int unit, int output_bits) {
  std::uint64_t magnitude = static_cast<std::uint64_t>(std::abs(sum));
  const int leading = static_cast<int>(std::bit_width(magnitude)) - 1 + unit;  // exponent of the leading bit
  const int lowest_bit = std::max(leading, -126) - output_bits;
  const int drop = lowest_bit - unit;
  if (drop >= 64) return 0.0f;
  if (drop > 0) magnitude = (magnitude >> drop) << drop;
  const double value =
      std::ldexp(static_cast<double>(magnitude), unit);  // at most 24 significant bits remain: exact
  return static_cast<float>(sum < 0 && magnitude ? -value : value);
}

}  // namespace

DotTrace explain_dot(const TensorCore& core, const std::uint8_t* a, const std::uint8_t* b, float c) {
  DotTrace trace;
  bool any_nan = is_nan(c);
  for (int k = 0; k < core.group; ++k) any_nan |= E4M3{a[k]}.is_nan() || E4M3{b[k]}.is_nan();
  if (any_nan || is_infinite(c)) {
    trace.special = true;
    trace.result = any_nan ? f32_from_bits(f32_canonical_nan) : c;
    return trace;
  }

  for (int k = 0; k < core.group; ++k) trace.terms[static_cast<std::size_t>(k)] = product({a[k]}, {b[k]});
  trace.terms[static_cast<std::size_t>(core.group)] = addend(c);
  trace.term_count = core.group + 1;

  int top = no_exponent;
  for (const DotTerm& term : trace.terms) {
    if (term.significand != 0) top = std::max(top, term.exponent);
  }
  trace.all_zero = top == no_exponent;
  if (trace.all_zero) return trace;  // +0
  trace.exponent = top;

  for (int i = 0; i < trace.term_count; ++i) {
    DotTerm& term = trace.terms[static_cast<std::size_t>(i)];
    if (term.significand == 0) continue;
    term.aligned = align(term, i < core.group ? 6 : 23, top, core.fraction_bits);
    trace.sum += term.aligned;
  }
  if (trace.sum != 0) trace.result = truncate(trace.sum, top - core.fraction_bits, core.output_bits);
  return trace;
}

float dot(const TensorCore& core, const std::uint8_t* a, const std::uint8_t* b, float c) {
  return explain_dot(core, a, b, c).result;
}

}  // namespace fp8twin
