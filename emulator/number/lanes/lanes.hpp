// The tensor core's step at the speed of the processor's fused multiply-add: the adder cuts the terms off for us.
//
// dot() of number/tensor_core.hpp truncates each of 32 products to the grid 2^(E-13) and adds integers. A binary32
// accumulator does both at once if it starts from M = 2^(E+10), whose last bit is worth exactly 2^(E-13), and rounds
// toward zero:
//
//     M            1.00000000000000000000000         24 bits: the first is 2^(E+10), the last 2^(E-13)
//     |a*b|                            1.1011|011    8 significant bits, exact inside the fused multiply-add
//     M + |a*b|    1.00000000000000000011011         cut off, as rule 4 wants; M leaves room for 2^8 of the largest terms
//
// Cutting off is toward zero for magnitudes only, so signs are kept apart. Two such accumulators a column are enough:
//
//     T = M + |C| + sum of |a*b|                     over all k                 needs |b|
//     P = M + C if C > 0 + sum of |a*b|              over products above zero   needs |b| where b has a's sign, else 0
//     result = (P - M) - (T - P)                     exact; then the low 10 bits are cleared: rule 6
//
// E comes first, from bytes: the largest of 32 sums of two exponents, 64 columns in one register. A zero product has a sum
// below 128 there and never wins; if none wins, E is C's exponent, or -126: rule 3 and the bottom of rule 6.
// Two multiply-adds and a quarter of two byte operations for 16 products (8 with AVX2): emulator/number/lanes/dot.hpp.
//
// What the caller takes care of: NaN codes count as zeros here, C is finite and below 2^100 (model/tile_lanes.cpp does the rest).
// Modelled: cores with 1 to 15 fraction bits, results cut to as many. Not modelled: wider ones; those need dot().
#pragma once

#include <cstdint>

namespace fp8twin {

enum class Simd;  // support/simd.hpp

inline constexpr int step_depth = 32;    // products of one step, at most
inline constexpr int step_columns = 64;  // columns of B worked on together
inline constexpr int max_step_fraction_bits = 15;
inline constexpr float max_step_c = 0x1p100f;

/// 64 rows of B (columns of the product) over one step of K, lanes innermost; 26 KB, to stay in the first-level cache.
struct ColumnGroup {
  alignas(64) float magnitude[step_depth][step_columns];  // |b|, 0 for NaN
  alignas(64) float of_sign[step_depth][2]
                           [step_columns];  // |b| of the positive ones, else 0; of the negative ones
  alignas(64) std::uint8_t exponent[step_depth][step_columns];  // 113 to 127; 0: zero or NaN
};

/// One row of A over one step of K.
struct RowGroup {
  float magnitude[step_depth];
  std::uint32_t offset[step_depth];    // bytes from of_sign[k] to the half that has a's sign
  std::uint32_t exponent[step_depth];  // as above, in all four bytes
};

/// What tells one tensor core from another.
struct StepForm {
  int depth;          // products summed at once: TensorCore::group
  int fraction_bits;  // and output_bits
};

/// One path's functions. Rows of `chain` and `final` are step_columns long and aligned to 64 bytes.
struct StepFunctions {
  /// Codes [columns, depth] with rows `stride` bytes apart, K contiguous; what is missing counts as zeros.
  void (*load_columns)(const std::uint8_t* codes, std::int64_t stride, int columns, int depth,
                       ColumnGroup& to);
  void (*load_rows)(const std::uint8_t* codes, std::int64_t stride, int rows, int depth, RowGroup* to);
  /// chain[i][j] <- dot(core, a[i], b[j], chain[i][j]) for `rows` rows.
  void (*step)(const StepForm& form, const RowGroup* a, int rows, const ColumnGroup& b, float* chain);
  /// final[i][j] <- fma_rn(mul_rn(a_scale[i * stride], b_scale[j]), chain[i][j], final[i][j]), and chain[i][j] <- 0.
  /// NaNs are not canonical.
  void (*promote)(const float* a_scale, std::int64_t stride, int rows, const float* b_scale, float* chain,
                  float* final);
  /// Whether any of `count` codes is a NaN.
  bool (*holds_nan)(const std::uint8_t* codes, std::int64_t count);
};

/// Null for the portable path: number/group_step.hpp is its step.
const StepFunctions* step_functions(Simd simd);

extern const StepFunctions avx2_step_functions, avx512_step_functions;

}  // namespace fp8twin
