// The scales of one problem as cuBLASLt wants them. cuBLAS documentation, "128-element 1D and 128x128 2D Block Scaling For FP8
// Data Types", section "Scaling factors layouts".
//
// cuBLASLt counts columns first: its A is our B [n,k], transposed, its B our A [m,k], its D [n,m] our D. With L = ceil(k/128)
// and L4 = L rounded up to a multiple of 4:
//
//   VEC128_32F       our a_scale [m, L]              ->  [L][m]: m contiguous, m a multiple of 4     "N-major, N x L"
//   BLK128x128_32F   our b_scale [ceil(n/128), L]    ->  [ceil(n/128)][L4]: K contiguous, padded     "K-major, L4 x ceil(M/128)"
//
// Both begin on a multiple of 16 bytes. Where m is not one that cuBLASLt takes, rows of zeros are added: codes 0, scales 0.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emulator/layout/integers.hpp"

namespace fp8twin::bench {

/// a_scale [m, k_blocks] as [k_blocks][padded_m].
inline std::vector<float> vec128_scales(std::span<const float> a_scale, i64 m, i64 k_blocks, i64 padded_m) {
  std::vector<float> scales(static_cast<std::size_t>(k_blocks * padded_m));
  for (i64 row = 0; row < m; ++row) {
    for (i64 block = 0; block < k_blocks; ++block) {
      scales[static_cast<std::size_t>(block * padded_m + row)] =
          a_scale[static_cast<std::size_t>(row * k_blocks + block)];
    }
  }
  return scales;
}

/// b_scale [n_blocks, k_blocks] with rows of a multiple of 4.
inline std::vector<float> blk128_scales(std::span<const float> b_scale, i64 n_blocks, i64 k_blocks) {
  const i64 stride = (k_blocks + 3) / 4 * 4;
  std::vector<float> scales(static_cast<std::size_t>(n_blocks * stride));
  for (i64 row = 0; row < n_blocks; ++row) {
    for (i64 block = 0; block < k_blocks; ++block) {
      scales[static_cast<std::size_t>(row * stride + block)] =
          b_scale[static_cast<std::size_t>(row * k_blocks + block)];
    }
  }
  return scales;
}

}  // namespace fp8twin::bench
