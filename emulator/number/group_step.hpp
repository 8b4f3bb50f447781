// One step of the tensor core for a row of A against 64 columns of B: C <- the dot product of one group plus C.
//
// The same function as dot() of number/tensor_core.hpp, arranged so that a compiler turns every loop into vector code:
//
//     E     by a maximum of byte-wide exponent sums
//     terms by  int(a * b * 2^(F-E))         a*b is exact in binary32 (8 significant bits), a power of two moves it
//                                            exactly, and the conversion to int truncates toward zero: rule 4
//     sum   in int32, exact: 33 * 2^(F+2) < 2^24 for F <= 16
//     cut   float(sum) is exact, so clearing the low fraction bits of its pattern truncates toward zero: rule 6
//
// tests/number/group_step_test.cpp holds it against dot() bit for bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "emulator/number/float_bits.hpp"
#include "emulator/number/panel.hpp"
#include "emulator/number/tensor_core.hpp"

namespace fp8twin {

/// The widest alignment whose sums stay exact in float; wider cores go through dot().
inline constexpr int max_lane_fraction_bits = 16;

using Lanes = std::array<float, lane_columns>;

/// c = dot(core, a[k..k+group), b[k..k+group), c) for all 64 columns; `core` has output_bits == fraction_bits <= 16.
inline void group_step(const TensorCore& core, const Panel<1>& a, const Panel<lane_columns>& b, int k,
                       Lanes& c) {
  constexpr int n = lane_columns;
  alignas(64) std::uint8_t top[n] = {};
  for (int i = k; i < k + core.group; ++i) {
    const std::uint8_t ea = a.exponent[i][0];
    for (int j = 0; j < n; ++j) {
      const auto sum = static_cast<std::uint8_t>(ea + b.exponent[i][j]);
      top[j] = std::max(top[j], sum);
    }
  }

  // Per column: E from the products and C, as the scale 2^(F-E) and its inverse; C aligned.
  const std::uint32_t kept = ~((1u << (23 - core.output_bits)) - 1);
  alignas(64) float scale[n], unit[n], alone[n];
  alignas(64) std::int32_t sum[n];
  alignas(64) std::uint32_t has_products[n];
  for (int j = 0; j < n; ++j) {
    const std::uint32_t bits = f32_bits(c[static_cast<std::size_t>(j)]), magnitude = bits & ~f32_sign;
    const bool finite = magnitude < f32_infinity;
    has_products[j] = top[j] >= smallest_product_exponent ? ~0u : 0u;
    const std::int32_t products = top[j] - 2 * exponent_bias;  // E of the products, -12 .. 16
    const std::int32_t own =
        finite && magnitude ? static_cast<std::int32_t>(std::max(magnitude >> 23, 1u)) - 127 : -128;
    const std::int32_t e = has_products[j] ? std::max(products, own) : 0;
    scale[j] = f32_from_bits(static_cast<std::uint32_t>(127 + core.fraction_bits - e) << 23);
    unit[j] = f32_from_bits(static_cast<std::uint32_t>(std::max(127 - core.fraction_bits + e, 0)) << 23);
    // Without products C only loses its low bits; what then is a zero is +0.
    const std::uint32_t cut = finite ? bits & kept : bits;
    alone[j] = f32_from_bits(cut & ~f32_sign ? cut : 0u);
    const float aligned = f32_from_bits(finite && has_products[j] ? bits : 0u) * scale[j];
    sum[j] = static_cast<std::int32_t>(aligned);
  }

  for (int i = k; i < k + core.group; ++i) {
    const float va = a.value[i][0];
    for (int j = 0; j < n; ++j) sum[j] += static_cast<std::int32_t>(va * b.value[i][j] * scale[j]);
  }

  const std::uint32_t nan_a = a.nan[k][0];
  for (int j = 0; j < n; ++j) {
    const std::uint32_t cut = f32_bits(static_cast<float>(sum[j])) & kept;
    const std::uint32_t moved = f32_bits(f32_from_bits(cut) * unit[j]);
    const std::uint32_t magnitude = f32_bits(c[static_cast<std::size_t>(j)]) & ~f32_sign;
    std::uint32_t result = has_products[j] && magnitude != f32_infinity ? moved : f32_bits(alone[j]);
    if (nan_a | b.nan[k][j] | static_cast<std::uint32_t>(magnitude > f32_infinity))
      result = f32_canonical_nan;
    c[static_cast<std::size_t>(j)] = f32_from_bits(result);
  }
}

}  // namespace fp8twin
