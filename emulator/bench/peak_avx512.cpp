#include <immintrin.h>

#include "emulator/bench/peak.hpp"

namespace fp8twin::bench {

float peak_avx512(std::int64_t count) {
  __m512 sums[12];
  const __m512 x = _mm512_set1_ps(0.5f);
#pragma GCC unroll 12
  for (int j = 0; j < 12; ++j)
    sums[j] = _mm512_set1_ps(static_cast<float>(j));  // equal ones would be one to the compiler
  for (std::int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 24
    for (int j = 0; j < peak_round; ++j) sums[j % 12] = _mm512_fmadd_ps(sums[j % 12], x, x);
  }
  __m512 all = x;
#pragma GCC unroll 12
  for (int j = 0; j < 12; ++j) all = _mm512_add_ps(all, sums[j]);
  return _mm512_cvtss_f32(all);
}

}  // namespace fp8twin::bench
