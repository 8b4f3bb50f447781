// The words that the step is written in, as AVX2 and FMA say them: 8 binary32 lanes, 32 byte lanes. See avx512.hpp.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace fp8twin {
namespace {

struct Vec {
  using F = __m256;   // binary32
  using I = __m256i;  // int32
  using B = __m256i;  // bytes
  using M = __m256i;  // all bits of a lane, or none

  static constexpr int lanes = 8, bytes = 32;
  // Of 16 registers 4 x (T, P) are accumulators; |b| comes from memory.
  static constexpr int rows_at_once = 1, vectors_at_once = 4;

  static F load(const float* p) { return _mm256_load_ps(p); }
  static void store(float* p, F x) { _mm256_store_ps(p, x); }
  static void store_unaligned(float* p, F x) { _mm256_storeu_ps(p, x); }
  static F all(float x) { return _mm256_set1_ps(x); }
  static F add(F a, F b) { return _mm256_add_ps(a, b); }
  static F sub(F a, F b) { return _mm256_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static F above_zero(F a) { return _mm256_max_ps(a, _mm256_setzero_ps()); }

  static I all(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
  static void store_unaligned(std::uint32_t* p, I x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
  }
  static I add(I a, I b) { return _mm256_add_epi32(a, b); }
  static I mul(I a, I b) { return _mm256_mullo_epi32(a, b); }
  static I max(I a, I b) { return _mm256_max_epi32(a, b); }
  static I both(I a, I b) { return _mm256_and_si256(a, b); }
  template <int bits>
  static I left(I a) {
    return _mm256_slli_epi32(a, bits);
  }
  template <int bits>
  static I right(I a) {
    return _mm256_srli_epi32(a, bits);
  }
  static F as_float(I a) { return _mm256_castsi256_ps(a); }
  static I as_bits(F a) { return _mm256_castps_si256(a); }

  static M less(I a, I b) { return _mm256_cmpgt_epi32(b, a); }
  static M equal(I a, I b) { return _mm256_cmpeq_epi32(a, b); }
  static F select(M m, F a, F b) { return _mm256_blendv_ps(b, a, as_float(m)); }
  static F keep(M m, F a) { return _mm256_and_ps(as_float(m), a); }
  static I keep(M m, I a) { return _mm256_and_si256(m, a); }
  static F drop(M m, F a) { return _mm256_andnot_ps(as_float(m), a); }
  static I drop(M m, I a) { return _mm256_andnot_si256(m, a); }

  static I widen(const std::uint8_t* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static void narrow(std::uint8_t* p, I a) {
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
  }
  static I gather_32_apart(const std::uint8_t* p) {
    const I index = _mm256_slli_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), 5);
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(p), index, 1);
  }

  static B load_bytes(const std::uint8_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void store_bytes(std::uint8_t* p, B a) { _mm256_store_si256(reinterpret_cast<__m256i*>(p), a); }
  static B all_bytes(std::uint8_t x) { return _mm256_set1_epi8(static_cast<char>(x)); }
  static B repeat(std::uint32_t four_bytes) { return _mm256_set1_epi32(static_cast<int>(four_bytes)); }
  static B add_bytes(B a, B b) { return _mm256_add_epi8(a, b); }
  static B sub_bytes(B a, B b) { return _mm256_sub_epi8(a, b); }
  static B max_bytes(B a, B b) { return _mm256_max_epu8(a, b); }
  static B by_top_bit(B top, B a, B b) { return _mm256_blendv_epi8(b, a, top); }
};

}  // namespace
}  // namespace fp8twin
