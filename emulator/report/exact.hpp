// The exact result of a GEMM element: no rounding anywhere until the answer is asked for as a double.
//
// Shares no code with the tensor-core model or the number formats, so that it can judge them: its table of
// E4M3 values is built from the format's definition, in integers.
//
//   One code        m * 2^e in units of 2^-9: an integer below 2^18 (448 * 512 = 229,376).
//   One product     an integer below 2^36 in units of 2^-18.
//   One K block     a sum of 128 of them, below 2^43: a 64-bit integer holds it, and any K below 2^27.
//   Scaled blocks   sum * scale_a * scale_b is a 43 + 24 + 24 bit integer times a power of two. Such terms
//                   are added into one integer of 896 bits, wide enough for any product of three FP32
//                   values:
//
//           bit 895                                                                   bit 0
//         [ sign, carries | 2^384 ... terms of scaled blocks, FP32 products ... 2^-447 | 2^-448 ]
//
// value() rounds that integer to the nearest double, once. NaN and infinity are kept beside it, by IEEE
// 754's rules.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace fp8twin::exact {

__extension__ typedef unsigned __int128 Unsigned128;

/// E4M3 by its definition (bias 7, 3 fraction bits, subnormals of 2^-9), in units of 2^-9.
constexpr std::array<std::int32_t, 256> e4m3_units() {
  std::array<std::int32_t, 256> table{};
  for (std::int32_t code = 0; code < 256; ++code) {
    const std::int32_t exponent = (code / 8) % 16, fraction = code % 8;
    // 2^(exponent - 7) * (8 + fraction) / 8, or 2^-6 * fraction / 8, times 2^9
    const std::int32_t units = exponent > 0 ? (8 + fraction) << (exponent - 1) : fraction;
    table[static_cast<std::size_t>(code)] = code < 128 ? units : -units;
  }
  return table;
}
inline constexpr std::array<std::int32_t, 256> e4m3_table = e4m3_units();
constexpr bool e4m3_is_nan(std::uint8_t code) { return code == 0x7f || code == 0xff; }
inline constexpr int product_exponent = -18;  // the unit of a product is 2^-18

/// sum(a[i] * b[i]) in units of 2^-18; count below 2^27. `nan` is set when a code is NaN.
inline std::int64_t dot(const std::uint8_t* a, const std::uint8_t* b, std::int64_t count, bool& nan) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += static_cast<std::int64_t>(e4m3_table[a[i]]) * e4m3_table[b[i]];
    if (e4m3_is_nan(a[i]) || e4m3_is_nan(b[i])) nan = true;
  }
  return sum;
}

/// A finite binary32 as sign * significand * 2^exponent.
struct Float {
  bool negative;
  std::uint32_t significand;
  int exponent;
};
constexpr Float take_apart(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t field = (bits >> 23) & 0xff, fraction = bits & 0x7fffff;
  return {(bits >> 31) != 0, field ? fraction | 0x800000 : fraction,
          field ? static_cast<int>(field) - 150 : -149};
}

class Sum {
 public:
  /// Adds count * 2^-18 * x * y: a block's sum of products and its two scales. |count| < 2^63.
  void add_scaled(std::int64_t count, float x, float y) {
    if (!std::isfinite(x) || !std::isfinite(y)) return add_special(static_cast<double>(count) * x * y);
    const Float u = take_apart(x), v = take_apart(y);
    const std::uint64_t scale = std::uint64_t{u.significand} * v.significand;  // 48 bits
    const std::uint64_t magnitude =
        count < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    const bool negative = (count < 0) != (u.negative != v.negative);
    const int exponent = product_exponent + u.exponent + v.exponent;
    add(negative, static_cast<Unsigned128>(scale) * magnitude, exponent);
  }
  /// Adds x * y * z.
  void add_product(float x, float y = 1.0f, float z = 1.0f) {
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z))
      return add_special(static_cast<double>(x) * y * z);
    const Float u = take_apart(x), v = take_apart(y), w = take_apart(z);
    const Unsigned128 magnitude =
        static_cast<Unsigned128>(std::uint64_t{u.significand} * v.significand) * w.significand;
    add(u.negative != (v.negative != w.negative), magnitude, u.exponent + v.exponent + w.exponent);
  }
  void add_nan() { special_ = std::numeric_limits<double>::quiet_NaN(); }

  Sum& operator+=(const Sum& other) { return combine(other, false); }
  Sum& operator-=(const Sum& other) { return combine(other, true); }

  bool finite() const { return special_ == 0; }

  /// The nearest double (ties to even), or infinity or NaN. Never subnormal: no term is smaller than 2^-448.
  double value() const {
    if (!finite()) return special_;
    const bool negative = limbs_.back() >> 63;
    Sum magnitude;
    magnitude.combine(*this, negative);
    std::size_t top = limbs - 1;
    while (top > 0 && magnitude.limbs_[top] == 0) --top;
    if (magnitude.limbs_[top] == 0) return 0;
    // The leading 64 bits; whatever lies below them only decides ties, so one sticky bit stands for it.
    const int shift = std::countl_zero(magnitude.limbs_[top]);
    std::uint64_t leading = magnitude.limbs_[top] << shift;
    if (shift > 0 && top > 0) leading |= magnitude.limbs_[top - 1] >> (64 - shift);
    bool sticky = top > 0 && (magnitude.limbs_[top - 1] << shift) != 0;
    for (std::size_t i = 0; i + 1 < top; ++i) sticky = sticky || magnitude.limbs_[i] != 0;
    const double rounded = static_cast<double>(leading | (sticky ? 1u : 0u));
    return std::ldexp(negative ? -rounded : rounded, lowest + 64 * static_cast<int>(top) - shift);
  }

 private:
  static constexpr std::size_t limbs = 14;
  static constexpr int lowest = -448;  // the unit of bit 0 is 2^-448

  void add_special(double x) { special_ += x; }

  void add(bool negative, Unsigned128 magnitude, int exponent) {
    const int position = exponent - lowest, shift = position % 64;
    const auto low = static_cast<std::uint64_t>(magnitude),
               high = static_cast<std::uint64_t>(magnitude >> 64);
    const std::array<std::uint64_t, 3> words{low << shift,
                                             shift ? (low >> (64 - shift)) | (high << shift) : high,
                                             shift ? high >> (64 - shift) : 0};
    std::uint64_t carry = 0;
    for (std::size_t i = static_cast<std::size_t>(position / 64), word = 0; i < limbs && (word < 3 || carry);
         ++i, ++word) {
      carry = step(limbs_[i], word < 3 ? words[word] : 0, carry, negative);
    }
  }

  Sum& combine(const Sum& other, bool negate) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < limbs; ++i) carry = step(limbs_[i], other.limbs_[i], carry, negate);
    special_ += negate ? -other.special_ : other.special_;
    return *this;
  }

  /// limb +- (word + carry); returns the next carry or borrow.
  static std::uint64_t step(std::uint64_t& limb, std::uint64_t word, std::uint64_t carry, bool subtract) {
    const std::uint64_t before = limb;
    if (subtract) {
      limb = before - word - carry;
      return before < word || (before == word && carry) ? 1 : 0;
    }
    limb = before + word + carry;
    return limb < before || (limb == before && carry && word) ? 1 : 0;
  }

  std::array<std::uint64_t, limbs> limbs_{};  // two's complement, least significant first
  double special_ = 0;                        // the sum of the infinities and NaNs, 0 when there are none
};

/// One element of a GEMM, exactly: c + sum over K blocks of (sum of products) * scale_a * scale_b. Null
/// scales are ones (and K is one block), a null c is zero. `block` is the number of columns that share a
/// scale.
inline Sum element(const std::uint8_t* a, const std::uint8_t* b, std::int64_t k, const float* a_scale,
                   const float* b_scale, const float* c, std::int64_t block = 128) {
  Sum sum;
  const std::int64_t step = a_scale ? block : k;
  for (std::int64_t at = 0, j = 0; at < k; at += step, ++j) {
    bool nan = false;
    const std::int64_t units = dot(a + at, b + at, step < k - at ? step : k - at, nan);
    if (nan) sum.add_nan();
    sum.add_scaled(units, a_scale ? a_scale[j] : 1.0f, b_scale ? b_scale[j] : 1.0f);
  }
  if (c) sum.add_product(*c);
  return sum;
}

}  // namespace fp8twin::exact
