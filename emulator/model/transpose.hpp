// Transposition on the host, and the order of scales that TMA can copy.
//
// FP8 wgmma reads both operands K-major (only its 16-bit types may be MN-major), so a weight stored [K,N] is transposed
// once, before the first GEMM, and its grid of 128x128 scales with it:
//
//   codes [K,N]          ->  codes [N,K]              blocks of 64x64, so that both sides stay within a few cache lines
//   scales [K/128,N/128] ->  scales [N/128,K/128]     the same function
//
// From step 8 on kernels read a's scales through a tensor map, whose rows must begin on multiples of 16 bytes:
//
//   scales [rows, k_blocks]  <->  [k_blocks, rows rounded up to 4]
#pragma once

#include <algorithm>
#include <cstdint>
#include <fp8twin/model.hpp>
#include <span>

#include "emulator/support/parallel.hpp"

namespace fp8twin {

/// x [rows, columns] to y [columns, rows]. The spans hold rows * columns elements, and do not overlap.
template <class T>
void transpose_matrix(std::int64_t rows, std::int64_t columns, std::span<const T> x, std::span<T> y,
                      int threads = 0) {
  constexpr std::int64_t edge = 64;
  if (x.empty()) return;
  parallel_for((columns + edge - 1) / edge, threads, [&](std::int64_t strip, int) {
    const std::int64_t first = strip * edge, end = std::min(first + edge, columns);
    for (std::int64_t top = 0; top < rows; top += edge) {
      const std::int64_t bottom = std::min(top + edge, rows);
      for (std::int64_t column = first; column < end; ++column) {
        for (std::int64_t row = top; row < bottom; ++row)
          y[static_cast<std::size_t>(column * rows + row)] =
              x[static_cast<std::size_t>(row * columns + column)];
      }
    }
  });
}

/// scales [rows, k_blocks] to aligned [k_blocks, aligned_rows(rows)], zero in the rows added.
inline void to_aligned(std::int64_t rows, std::int64_t k_blocks, std::span<const float> scales,
                       std::span<float> aligned) {
  const std::int64_t width = aligned_rows(rows);
  for (std::int64_t block = 0; block < k_blocks; ++block) {
    float* const to = aligned.data() + block * width;
    for (std::int64_t row = 0; row < rows; ++row)
      to[row] = scales[static_cast<std::size_t>(row * k_blocks + block)];
    std::fill(to + rows, to + width, 0.0f);
  }
}

/// The inverse; what the rows added hold is not read.
inline void from_aligned(std::int64_t rows, std::int64_t k_blocks, std::span<const float> aligned,
                         std::span<float> scales) {
  const std::int64_t width = aligned_rows(rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t block = 0; block < k_blocks; ++block)
      scales[static_cast<std::size_t>(row * k_blocks + block)] =
          aligned[static_cast<std::size_t>(block * width + row)];
  }
}

}  // namespace fp8twin
