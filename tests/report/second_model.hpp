// A second, independent model of one GEMM element, for tests that must not ask the code under test.
//
// Everything is done on doubles that hold each number exactly: a product is below 2^18 with at most 8
// significant bits, an aligned term has at most 14, and 33 of them add up without rounding. Only the
// standard library is used.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace fp8twin::test {

/// The value of an E4M3 code, by counting up through the format: eight subnormal steps, then eight for each
/// exponent.
inline double second_value(std::uint8_t code) {
  const int magnitude = code & 0x7f;
  if (magnitude == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  double value = 0, step = std::exp2(-9);
  for (int i = 1; i <= magnitude; ++i) {
    value += step;
    if (i % 8 == 0 && i > 8) step *= 2;
  }
  return code & 0x80 ? -value : value;
}

/// The exponent wgmma aligns by: that of the value, but never below that of the smallest normal.
inline int second_exponent(double value) { return std::max(std::ilogb(value), -6); }

inline double cut(double value, int exponent) {  // toward zero, to a multiple of 2^exponent
  return std::ldexp(std::trunc(std::ldexp(value, -exponent)), exponent);
}

/// One dot product of up to 32 pairs onto c, all finite.
inline float second_dot(const std::uint8_t* a, const std::uint8_t* b, std::int64_t count, float c,
                        int bits = 13) {
  int largest = c != 0 ? std::max(std::ilogb(static_cast<double>(c)), -126) : -1000;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = second_value(a[i]), y = second_value(b[i]);
    if (x != 0 && y != 0) largest = std::max(largest, second_exponent(x) + second_exponent(y));
  }
  if (largest == -1000) return 0.0f;
  double sum = cut(c, largest - bits);
  for (std::int64_t i = 0; i < count; ++i)
    sum += cut(second_value(a[i]) * second_value(b[i]), largest - bits);
  if (sum == 0) return 0.0f;
  return static_cast<float>(cut(sum, std::max(std::ilogb(sum), -126) - std::min(bits, 23)));
}

/// A chain of dot products of 32.
inline float second_chain(const std::uint8_t* a, const std::uint8_t* b, std::int64_t count, float c = 0.0f,
                          int bits = 13) {
  for (std::int64_t at = 0; at < count; at += 32)
    c = second_dot(a + at, b + at, std::min<std::int64_t>(32, count - at), c, bits);
  return c;
}

/// Round to nearest even BF16, as the upper half of the bits; finite values only.
inline std::uint16_t second_bf16(float x) {
  const double exponent = std::max(std::ilogb(static_cast<double>(x)), -126) - 7;
  const double unit = std::exp2(x == 0 ? 0 : exponent);
  const auto rounded = static_cast<float>(std::nearbyint(static_cast<double>(x) / unit) * unit);
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(std::copysign(rounded, x)) >> 16);
}

}  // namespace fp8twin::test
