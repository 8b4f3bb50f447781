#include <immintrin.h>

#include "emulator/bench/peak.hpp"

namespace fp8twin::bench {

float peak_avx2(std::int64_t count) {
  __m256 sums[12];
  const __m256 x = _mm256_set1_ps(0.5f);
#pragma GCC unroll 12
  for (int j = 0; j < 12; ++j)
    sums[j] = _mm256_set1_ps(static_cast<float>(j));  // equal ones would be one to the compiler
  for (std::int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 24
    for (int j = 0; j < peak_round; ++j) sums[j % 12] = _mm256_fmadd_ps(sums[j % 12], x, x);
  }
  __m256 all = x;
#pragma GCC unroll 12
  for (int j = 0; j < 12; ++j) all = _mm256_add_ps(all, sums[j]);
  return _mm256_cvtss_f32(all);
}

}  // namespace fp8twin::bench
