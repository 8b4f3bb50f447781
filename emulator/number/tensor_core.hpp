// The tensor core's dot product: one element of D = A B + C, as wgmma.m64nNk32.f32.e4m3.e4m3 computes it.
//
//     E = largest exponent of a non-zero term         every term cut off below 2^(E-13), toward zero:
//
//     a0*b0     1 1.0 1 1 0 0 1                       |<- 13 bits ->|
//     a1*b1             1.0 0 1 1 0                   |             |
//     a2*b2                         1.1 0 1 1 1       |          1 1|0 1 1 1  cut
//     C           1.0 1 1 1 0 1 ... 24 bits           |             |... cut
//     ----------------------------------------        the 33 integers summed exactly, the sum cut to 13 fraction bits
//
// The rules in order (measured on an H200, every one with inputs that decide it; docs/numerics.md has the evidence):
//   1  A NaN among a, b, C gives 0x7fffffff. Otherwise an infinite C is returned as it is.
//   2  A product is the integer product of the significands at the sum of the exponents; it is not renormalised, and
//      subnormals keep the exponent of the smallest normal.
//   3  E is the largest exponent over non-zero products and a non-zero C. Zeros never raise E.
//   4  Every term is truncated toward zero, on its magnitude, to a multiple of 2^(E - fraction_bits).
//   5  The terms are summed exactly, in no order.
//   6  The sum is truncated toward zero to output_bits fraction bits; at the bottom the exponent is pinned at -126.
//   7  A zero sum is +0.
//
// Modelled: E4M3 by E4M3 into f32. Not modelled: E5M2 operands, f16 accumulators; mma.sync with FP8, which on
// Hopper is another function.
#pragma once

#include <array>
#include <cstdint>

namespace fp8twin {

/// The three numbers that make one tensor core differ from another.
struct TensorCore {
  int fraction_bits;  // kept below 2^E when terms are aligned; 1 to 40
  int output_bits;    // fraction bits of the result; 1 to 23
  int group;          // products summed at once; at most 32
};

/// Hopper. Source: measured, see above; 12, 14 or 25 bits, or two groups of 16, fail in tests/golden/golden_test.cpp.
inline constexpr TensorCore sm90{.fraction_bits = 13, .output_bits = 13, .group = 32};

/// "What if": sm90 with another alignment width. The result keeps as many bits as binary32 can hold.
constexpr TensorCore with_fraction_bits(int bits) { return {bits, bits < 23 ? bits : 23, sm90.group}; }

inline constexpr int min_fraction_bits = 1, max_fraction_bits = 40;

/// One of the 33 terms, as the adder sees it: value = significand * 2^(exponent - scale).
struct DotTerm {
  /// Signed; a product's is at most 225 and counts units of 2^(exponent-6), C's of 2^(exponent-23).
  std::int64_t significand = 0;
  int exponent = 0;          // e_a + e_b, or C's
  std::int64_t aligned = 0;  // after rule 4, in units of 2^(E - fraction_bits)
};

/// Everything on the way from operands to result.
struct DotTrace {
  bool special = false;  // rule 1 decided; nothing below but `result` is set
  int exponent = 0;      // E; meaningless when every term is zero
  bool all_zero = false;
  std::array<DotTerm, 33> terms{};  // products 0..group-1, then C
  int term_count = 0;
  std::int64_t sum = 0;  // in units of 2^(E - fraction_bits)
  float result = 0;
};

/// The dot product of `core.group` pairs of E4M3 codes plus c, with every step recorded.
DotTrace explain_dot(const TensorCore& core, const std::uint8_t* a, const std::uint8_t* b, float c);

/// The same, result only.
float dot(const TensorCore& core, const std::uint8_t* a, const std::uint8_t* b, float c);

}  // namespace fp8twin
