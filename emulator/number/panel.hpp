// Operands decoded once: the codes of up to 64 columns of B, and of one row of A, ready for lanes.
//
// A panel holds `columns` of B over one block of K, transposed so that neighbouring columns are neighbouring lanes:
//
//            column 0  1  2 ... 63
//     k = 0   value[0][..]   exponent[0][..]
//     k = 1   value[1][..]   exponent[1][..]
//
// value: the exact float (0 for NaN, which is kept as a flag beside it).
// exponent: that of rule 2 of the tensor core plus 39, so 33..47; 0 for zeros and NaN. The sum of two of them is 66 or more
// exactly when neither factor is zero, which is rule 3's "zeros never raise E" without a branch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "emulator/number/e4m3.hpp"
#include "emulator/number/scale_block.hpp"

namespace fp8twin {

inline constexpr int lane_columns = 64;      // columns of B worked on together
inline constexpr int panel_k = scale_block;  // one block of K
inline constexpr int exponent_bias = 39;
// Biased twice; below: a factor was zero.
inline constexpr int smallest_product_exponent = 2 * (exponent_bias - 6);

struct DecodedCode {
  float value;
  std::uint8_t exponent, nan;
};

constexpr std::array<DecodedCode, 256> make_decoded_codes() {
  std::array<DecodedCode, 256> table{};
  for (int code = 0; code < 256; ++code) {
    const E4M3 x{static_cast<std::uint8_t>(code)};
    const bool counts = !x.is_nan() && !x.is_zero();
    table[static_cast<std::size_t>(code)] = {
        counts ? x.value() : 0.0f, static_cast<std::uint8_t>(counts ? x.exponent() + exponent_bias : 0),
        x.is_nan()};
  }
  return table;
}
inline constexpr std::array<DecodedCode, 256> decoded_codes = make_decoded_codes();

/// `Columns` operand rows (of B; or one, of A) over a block of K, k outermost.
template <int Columns>
struct Panel {
  alignas(64) float value[panel_k][Columns];
  alignas(64) std::uint8_t exponent[panel_k][Columns];
  /// nan[g] gathers the group that starts at g: any NaN among its codes; see load().
  alignas(64) std::uint8_t nan[panel_k][Columns];

  /// Decodes codes[column * stride + k] for column < columns, k < depth; the rest of the panel becomes zeros.
  /// Row g * group of `nan` says for each column whether group g of K holds a NaN.
  void load(const std::uint8_t* codes, std::int64_t stride, int columns, int depth, int group) {
    if (columns < Columns || depth < panel_k) *this = {};
    for (int k = 0; k < panel_k; k += group) std::fill_n(nan[k], Columns, std::uint8_t{0});
    decode(codes, stride, columns, depth, group);
  }

  /// One group alone, at the front of the panel: all that one group_step(.., 0, ..) reads. Columns past the last stay as they were.
  void load_group(const std::uint8_t* codes, std::int64_t stride, int columns, int group) {
    std::fill_n(nan[0], Columns, std::uint8_t{0});
    decode(codes, stride, columns, group, group);
  }

 private:
  void decode(const std::uint8_t* codes, std::int64_t stride, int columns, int depth, int group) {
    for (int column = 0; column < columns; ++column) {
      const std::uint8_t* row = codes + column * stride;
      for (int k = 0; k < depth; ++k) {
        const DecodedCode& x = decoded_codes[row[k]];
        value[k][column] = x.value;
        exponent[k][column] = x.exponent;
        nan[k - k % group][column] |= x.nan;
      }
    }
  }
};

}  // namespace fp8twin
