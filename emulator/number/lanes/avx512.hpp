// The words that the step is written in, as AVX-512 says them: 16 binary32 lanes, 64 byte lanes.
//
// avx2.hpp says the same words with half the lanes. Included by one source file each, before the body that uses them
// (dot.hpp); everything has internal linkage, as support/simd.hpp asks.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace fp8twin {
namespace {

struct Vec {
  using F = __m512;     // binary32
  using I = __m512i;    // int32
  using B = __m512i;    // bytes
  using M = __mmask16;  // one flag for each of F or I

  static constexpr int lanes = 16, bytes = 64;
  // Rows and registers of columns that the step keeps in registers: 3 x 4 x (T, P) accumulators and 4 of |b|, of 32.
  static constexpr int rows_at_once = 3, vectors_at_once = 4;

  static F load(const float* p) { return _mm512_load_ps(p); }
  static void store(float* p, F x) { _mm512_store_ps(p, x); }
  static void store_unaligned(float* p, F x) { _mm512_storeu_ps(p, x); }
  static F all(float x) { return _mm512_set1_ps(x); }
  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F above_zero(F a) { return _mm512_max_ps(a, _mm512_setzero_ps()); }  // 0 for the others

  static I all(std::uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
  static void store_unaligned(std::uint32_t* p, I x) { _mm512_storeu_si512(p, x); }
  static I add(I a, I b) { return _mm512_add_epi32(a, b); }
  static I mul(I a, I b) { return _mm512_mullo_epi32(a, b); }
  static I max(I a, I b) { return _mm512_max_epi32(a, b); }
  static I both(I a, I b) { return _mm512_and_si512(a, b); }
  template <int bits>
  static I left(I a) {
    return _mm512_slli_epi32(a, bits);
  }
  template <int bits>
  static I right(I a) {
    return _mm512_srli_epi32(a, bits);
  }
  static F as_float(I a) { return _mm512_castsi512_ps(a); }
  static I as_bits(F a) { return _mm512_castps_si512(a); }

  static M less(I a, I b) { return _mm512_cmplt_epi32_mask(a, b); }
  static M equal(I a, I b) { return _mm512_cmpeq_epi32_mask(a, b); }
  static F select(M m, F a, F b) { return _mm512_mask_blend_ps(m, b, a); }
  static F keep(M m, F a) { return _mm512_maskz_mov_ps(m, a); }  // 0 where m is not set
  static I keep(M m, I a) { return _mm512_maskz_mov_epi32(m, a); }
  static I drop(M m, I a) { return _mm512_maskz_mov_epi32(static_cast<M>(~m), a); }
  static F drop(M m, F a) { return _mm512_maskz_mov_ps(static_cast<M>(~m), a); }

  /// `lanes` bytes, each to an int32; and back, for values below 256.
  static I widen(const std::uint8_t* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static void narrow(std::uint8_t* p, I a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a));
  }
  /// The four bytes at p, p + 32, p + 64, ...
  static I gather_32_apart(const std::uint8_t* p) {
    const I index =
        _mm512_slli_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), 5);
    return _mm512_i32gather_epi32(index, p, 1);
  }

  static B load_bytes(const std::uint8_t* p) { return _mm512_load_si512(p); }
  static void store_bytes(std::uint8_t* p, B a) { _mm512_store_si512(p, a); }
  static B all_bytes(std::uint8_t x) { return _mm512_set1_epi8(static_cast<char>(x)); }
  static B repeat(std::uint32_t four_bytes) { return _mm512_set1_epi32(static_cast<int>(four_bytes)); }
  static B add_bytes(B a, B b) { return _mm512_add_epi8(a, b); }
  static B sub_bytes(B a, B b) { return _mm512_sub_epi8(a, b); }
  static B max_bytes(B a, B b) { return _mm512_max_epu8(a, b); }
  /// a where bit 7 of `top` is set, else b.
  static B by_top_bit(B top, B a, B b) { return _mm512_mask_blend_epi8(_mm512_movepi8_mask(top), b, a); }
};

}  // namespace
}  // namespace fp8twin
