// The dense products that every kind of problem decomposes into.
//
//   batched    one slice a batch           contiguous  one slice a run of rows of one group
//   masked     the valid rows of a group   k-grouped   one slice a group of K, all of M and N
//
// An engine that can do one slice can do every kind; what no slice covers (padding rows, masked rows) stays zero.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/model/problem.hpp"

namespace fp8twin {

/// What a scale pointer points to when K = 0 leaves no scales: it must not be null, since null means "a wgmma".
inline constexpr float no_scales = 0.0f;

/// D[m,n] = c + sum over K blocks of scale * (A B^T); strides in elements, K contiguous.
struct GemmSlice {
  const std::uint8_t* a;  // [m, k], row stride lda
  std::int64_t lda;
  const std::uint8_t* b;  // [n, k], row stride ldb
  std::int64_t ldb;
  /// [m, ceil(k/128)], row stride a_scale_stride; null: no scales and no promotion (wgmma).
  const float* a_scale;
  std::int64_t a_scale_stride;
  const float* b_scale;  // [ceil(n/b_scale_rows), ceil(k/128)]
  std::int64_t b_scale_stride;
  std::int64_t b_scale_rows;  // 128, or 1 for 1D1D
  const float* c;             // [m, n] dense, or null
  std::int64_t m, n, k;
  std::int64_t d_offset;  // of d[0,0] in the problem's d, whose rows are n long
};

std::vector<GemmSlice> slices(const Problem& problem);

}  // namespace fp8twin
