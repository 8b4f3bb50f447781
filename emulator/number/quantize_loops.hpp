// The loops of quantisation, written once in the compiler's vector types and compiled once for each path: no intrinsic, no
// shuffle. Included by quantize_{portable,avx2,avx512}.cpp only; the rule of support/simd.hpp holds here, so everything has
// internal linkage and nothing is included but integers and declarations.
//
// A vector of 16-bit words is worked through as its even and its odd elements, each in 32-bit lanes, since BF16 becomes
// binary32 there by a shift or a mask, and the codes go back the same way:
//
//     words    | x0 | x1 | x2 | x3 | ...         even:  x0 . x2 . ...  words << 16
//                                                odd:   x1 . x3 . ...  words & 0xffff0000
//
// The cast. With |q| held between 2^-6 and the saturating bound, 2^E its binade, one addition rounds it to E4M3's grid,
// subnormals included, as the ulp of 2^(E+20) is 2^(E-3):
//
//     2^(E+20) + |q|                bits: | E+20 | 00000000000000 n |      n = |q| / 2^(E-3), rounded to nearest even
//     code  = 8 (E+6) + n           (n is 8..16 in a normal binade, 0..8 below 2^-6: a carry climbs by itself)
//
// The constant 8 * 6 and the bias are put into the sum's low bits beforehand, where they cost nothing. Only the low eight
// bits are kept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/number/quantize_path.hpp"

namespace fp8twin {
namespace {

#if defined(__AVX512BW__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

typedef float F32s __attribute__((vector_size(vector_bytes)));
typedef std::int32_t I32s __attribute__((vector_size(vector_bytes)));
typedef std::uint32_t U32s __attribute__((vector_size(vector_bytes)));
typedef std::int16_t I16s __attribute__((vector_size(vector_bytes)));
typedef std::uint16_t U16s __attribute__((vector_size(vector_bytes)));
typedef std::uint16_t U16half __attribute__((vector_size(vector_bytes / 2)));
typedef std::uint8_t U8half __attribute__((vector_size(vector_bytes / 2)));
typedef std::uint8_t U8quarter __attribute__((vector_size(vector_bytes / 4)));

template <class Vector>
Vector load(const void* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
template <class Vector>
void store(void* to, Vector vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

F32s floats(I32s bits) { return reinterpret_cast<F32s>(bits); }
I32s bits_of(F32s x) { return reinterpret_cast<I32s>(x); }
/// Every lane x. By its bits, since 0 + x would lose the sign of a zero.
F32s all(float x) { return floats(I32s{} + __builtin_bit_cast(std::int32_t, x)); }
I32s smaller(I32s a, I32s b) { return a < b ? a : b; }
I32s larger(I32s a, I32s b) { return a > b ? a : b; }

constexpr std::int32_t infinity = 0x7f800000, canonical_nan = 0x7fffffff;
constexpr std::int32_t exponent_of(int e) { return (e + 127) << 23; }

// --- the formats of x: `words` at a time, as magnitudes in binary32 and signs ------------------------------

/// What a vector of words is as numbers: |x| of its even and odd elements.
struct Pair {
  F32s even, odd;
};

struct Bf16Words {
  static constexpr bool words = true;
  static constexpr std::int16_t top = 0x7f80;
  static Pair magnitudes(U16s words) {
    const I32s both = reinterpret_cast<I32s>(words & 0x7fff);
    return {floats(both << 16), floats(both & ~0xffff)};
  }
};

struct F16Words {
  static constexpr bool words = true;
  static constexpr std::int16_t top = 0x7c00;
  /// A subnormal is read as one with a hidden bit, which is then taken off: the multiplication by 2^112 that would
  /// serve both has binary32 subnormals as operands, and those cost a hundred cycles.
  static F32s widen(I32s magnitude) {
    const I32s shifted = magnitude << 13;
    const I32s subnormal = bits_of(floats(shifted + exponent_of(-14)) - floats(I32s{} + exponent_of(-14)));
    const I32s normal = shifted + (112 << 23);
    const I32s finite = magnitude < 0x0400 ? subnormal : normal;
    return floats(magnitude >= 0x7c00 ? finite | infinity : finite);
  }
  static Pair magnitudes(U16s words) {
    const U32s both = reinterpret_cast<U32s>(words & 0x7fff);
    return {widen(reinterpret_cast<I32s>(both & 0xffff)), widen(reinterpret_cast<I32s>(both >> 16))};
  }
};

struct Floats {
  static constexpr bool words = false;
};

// --- the cast ----------------------------------------------------------------------------------------------

struct Cast {
  F32s factor;
  I32s bound;  // 448 saturates; above 480 there are no codes, and 480 itself is NaN's
  I32s nan;

  explicit Cast(const BlockCast& cast)
      : factor(all(cast.factor)),
        bound(I32s{} + (cast.largest == 0x7e ? 0x43e00000 : 0x43f00000)),
        nan(I32s{} + cast.nan) {}

  template <bool divide, bool special>
  F32s quotient(F32s magnitude) const {
    const F32s q = divide ? magnitude / factor : magnitude * factor;
    return special ? floats(bits_of(q) & 0x7fffffff)
                   : q;  // infinity * 0 is a NaN with a sign on some processors
  }

  /// The magnitude's code in the low 7 bits; above them anything. NaN is taken for an overflow.
  I32s code(F32s quotient) const {
    const I32s size = smaller(bits_of(quotient), bound);
    const I32s binade = larger(size, I32s{} + exponent_of(-6)) & infinity;
    constexpr std::int32_t low_bits = -8 * (127 - 6) & 0x7f;
    const F32s sum = floats(binade + ((20 << 23) + low_bits)) + floats(size);
    return bits_of(sum) + (binade >> 20);
  }
};

I32s is_nan(F32s magnitude) { return bits_of(magnitude) > infinity; }

U16s interleaved(I32s even, I32s odd) { return reinterpret_cast<U16s>((even & 0xffff) | (odd << 16)); }

/// One vector of 16-bit words to as many codes.
template <class Format, bool divide, bool special>
U8half encode_words(U16s words, const Cast& cast) {
  const Pair x = Format::magnitudes(words);
  const F32s even = cast.template quotient<divide, special>(x.even),
             odd = cast.template quotient<divide, special>(x.odd);
  U16s codes = (interleaved(cast.code(even), cast.code(odd)) & 0x7f) | ((words >> 8) & 0x80);
  if constexpr (special) {
    const U16s nan = interleaved(is_nan(even), is_nan(odd));
    codes = (codes & ~nan) | (interleaved(cast.nan, cast.nan) & nan);
  }
  return __builtin_convertvector(codes, U8half);
}

template <bool divide, bool special>
U8quarter encode_floats(I32s x, const Cast& cast) {
  const F32s quotient = cast.template quotient<divide, special>(floats(x & 0x7fffffff));
  I32s codes = (cast.code(quotient) & 0x7f) | ((x >> 24) & 0x80);
  if constexpr (special) codes = is_nan(quotient) ? cast.nan : codes;
  return __builtin_convertvector(codes, U8quarter);
}

// --- patches -----------------------------------------------------------------------------------------------

/// Calls step(vector, offset, count) along a row; the last vector may hold fewer elements and then zeros.
template <class Vector, class Word, class Step>
void along_row(const Word* x, std::int64_t count, const Step& step) {
  constexpr std::int64_t lanes = sizeof(Vector) / sizeof(Word);
  std::int64_t at = 0;
  for (; at + lanes <= count; at += lanes) step(load<Vector>(x + at), at, lanes);
  if (at == count) return;
  Word rest[lanes] = {};
  __builtin_memcpy(rest, x + at, sizeof(Word) * static_cast<std::size_t>(count - at));
  step(load<Vector>(rest), at, count - at);
}

/// Stores the first `count` bytes of a vector.
template <class Vector>
void store_first(void* to, Vector vector, std::int64_t count) {
  if (count == sizeof vector) return store(to, vector);
  __builtin_memcpy(to, &vector, static_cast<std::size_t>(count));
}

template <class T, int bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes)));
};

/// The largest element, by halves.
template <class T, int bytes>
T largest_lane(typename VectorOf<T, bytes>::type vector) {
  if constexpr (bytes == 2 * sizeof(T)) {
    return vector[0] > vector[1] ? vector[0] : vector[1];
  } else {
    typename VectorOf<T, bytes / 2>::type half[2];
    __builtin_memcpy(half, &vector, sizeof vector);
    return largest_lane<T, bytes / 2>(half[0] > half[1] ? half[0] : half[1]);
  }
}

/// `top` is infinity's magnitude, the largest that is no NaN.
template <class Vector, class Word>
std::uint32_t largest_magnitude(const void* x, const Patch& patch, bool ignore_nan, Word top) {
  constexpr Word magnitude_bits = static_cast<Word>(~(Word{1} << (8 * sizeof(Word) - 1)));
  Vector largest{};
  for (std::int64_t row = 0; row < patch.rows; ++row) {
    along_row<Vector>(static_cast<const Word*>(x) + row * patch.pitch, patch.columns,
                      [&](Vector words, std::int64_t, std::int64_t) {
                        Vector magnitude = words & magnitude_bits;
                        if (ignore_nan) magnitude = magnitude > top ? Vector{} : magnitude;
                        largest = magnitude > largest ? magnitude : largest;
                      });
  }
  return static_cast<std::uint32_t>(largest_lane<Word, vector_bytes>(largest));
}

template <class Format>
std::uint32_t largest_word(const void* x, const Patch& patch, bool ignore_nan) {
  return largest_magnitude<I16s>(x, patch, ignore_nan, Format::top);
}
std::uint32_t largest_float(const void* x, const Patch& patch, bool ignore_nan) {
  return largest_magnitude<I32s>(x, patch, ignore_nan, infinity);
}

template <class Format, bool divide, bool special>
void encode_patch(const void* x, const Patch& patch, const BlockCast& how, std::uint8_t* codes) {
  const Cast cast(how);
  for (std::int64_t row = 0; row < patch.rows; ++row) {
    const std::int64_t begin = row * patch.pitch;
    if constexpr (Format::words) {
      along_row<U16s>(static_cast<const std::uint16_t*>(x) + begin, patch.columns,
                      [&](U16s words, std::int64_t at, std::int64_t count) {
                        store_first(codes + begin + at, encode_words<Format, divide, special>(words, cast),
                                    count);
                      });
    } else {
      along_row<I32s>(static_cast<const std::int32_t*>(x) + begin, patch.columns,
                      [&](I32s bits, std::int64_t at, std::int64_t count) {
                        store_first(codes + begin + at, encode_floats<divide, special>(bits, cast), count);
                      });
    }
  }
}

template <class Format>
void encode(const void* x, const Patch& patch, const BlockCast& how, std::uint8_t* codes) {
  if (how.special) {
    how.divide ? encode_patch<Format, true, true>(x, patch, how, codes)
               : encode_patch<Format, false, true>(x, patch, how, codes);
  } else {
    how.divide ? encode_patch<Format, true, false>(x, patch, how, codes)
               : encode_patch<Format, false, false>(x, patch, how, codes);
  }
}

// --- the way back ------------------------------------------------------------------------------------------

/// fl32(code * scale), bits. A normal code's exponent and fraction move into binary32's place; a subnormal is read with
/// a hidden bit, which is then taken off.
I32s decoded(U8quarter codes, F32s scale) {
  const I32s wide = __builtin_convertvector(codes, I32s);
  const I32s magnitude = wide & 0x7f, shifted = magnitude << 20;
  const I32s subnormal = bits_of(floats(shifted + exponent_of(-6)) - floats(I32s{} + exponent_of(-6)));
  const I32s finite = magnitude < 8 ? subnormal : shifted + ((127 - 7) << 23);
  const I32s value = magnitude == 0x7f ? I32s{} + canonical_nan : finite | ((wide & 0x80) << 24);
  const F32s product = floats(value) * scale;
  return (bits_of(product) & 0x7fffffff) > infinity ? I32s{} + canonical_nan : bits_of(product);
}

void decode_f32(const std::uint8_t* codes, std::int64_t count, float scale, float* x) {
  along_row<U8quarter>(codes, count, [&](U8quarter vector, std::int64_t at, std::int64_t now) {
    store_first(x + at, decoded(vector, all(scale)), 4 * now);
  });
}

/// As BF16::rn.
void decode_bf16(const std::uint8_t* codes, std::int64_t count, float scale, std::uint16_t* x) {
  along_row<U8quarter>(codes, count, [&](U8quarter vector, std::int64_t at, std::int64_t now) {
    const U32s bits = reinterpret_cast<U32s>(decoded(vector, all(scale)));
    const U32s rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const U32s words = bits == static_cast<std::uint32_t>(canonical_nan) ? U32s{} + 0x7fff : rounded;
    store_first(x + at, __builtin_convertvector(words, U16half), 2 * now);
  });
}

constexpr QuantizePath this_path{{largest_word<Bf16Words>, encode<Bf16Words>},
                                 {largest_word<F16Words>, encode<F16Words>},
                                 {largest_float, encode<Floats>},
                                 decode_f32,
                                 decode_bf16};

}  // namespace
}  // namespace fp8twin
