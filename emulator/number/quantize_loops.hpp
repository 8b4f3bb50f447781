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
// Modelled: every operation is the one IEEE operation of the recipe, so all paths agree in every bit. Subnormal BF16 or
// binary32 operands are right too, but slow on processors that multiply them in microcode.
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

// --- the formats of x --------------------------------------------------------------------------------------

/// |x| in binary32 of a vector's even and of its odd elements.
struct Pair {
  F32s even, odd;
};

struct Bf16Format {
  using Words = I16s;
  using Signed = std::int16_t;
  static constexpr Signed top = 0x7f80;
  static Pair magnitudes(I16s words) {
    const I32s both = reinterpret_cast<I32s>(words & 0x7fff);
    return {floats(both << 16), floats(both & ~0xffff)};
  }
};

struct F16Format {
  using Words = I16s;
  using Signed = std::int16_t;
  static constexpr Signed top = 0x7c00;
  /// A subnormal is read as one with a hidden bit, which is then taken off: the multiplication by 2^112 that would
  /// serve both has binary32 subnormals as operands, and those cost a hundred cycles.
  static F32s widen(I32s magnitude) {
    const I32s shifted = magnitude << 13;
    const I32s subnormal = bits_of(floats(shifted + exponent_of(-14)) - floats(I32s{} + exponent_of(-14)));
    const I32s normal = shifted + (112 << 23);
    const I32s finite = magnitude < 0x0400 ? subnormal : normal;
    return floats(magnitude >= 0x7c00 ? finite | infinity : finite);
  }
  static Pair magnitudes(I16s words) {
    const I32s both = reinterpret_cast<I32s>(words & 0x7fff);
    return {widen(both & 0xffff), widen(both >> 16)};
  }
};

struct F32Format {
  using Words = I32s;
  using Signed = std::int32_t;
  static constexpr Signed top = infinity;
};

// --- the cast ----------------------------------------------------------------------------------------------

/// binary32 to E4M3 by one addition. With 2^E the binade of |q|, or -6 for E below that, the ulp of 2^(E+20) is 2^(E-3),
/// the step of E4M3 there, subnormals included; so the adder itself rounds to the grid, ties to even:
///
///     2^(E+20) + |q|      bits: | E+20 | 000000000000000 n |      n = |q| / 2^(E-3): 8..16, or 0..8 below 2^-6
///     code  =  8 (E+6) + n                                        n = 16 carries into the exponent by itself
///
/// What is at hand is 8 (E+127), the binade's bits shifted by 20; the difference, modulo 128, is put into the low bits of
/// 2^(E+20) beforehand, where it costs nothing. It is a multiple of 8, so ties stay ties.
struct Cast {
  F32s factor;
  I32s bound;  // 448 saturates; above 480 there are no codes, and 480 itself is NaN's
  I32s nan;

  Cast(const RunCast& run, float block_factor)
      : factor(all(block_factor)),
        bound(I32s{} + (run.largest == 0x7e ? 0x43e00000 : 0x43f00000)),
        nan(I32s{} + run.nan) {}

  template <bool divide, bool special>
  F32s quotient(F32s magnitude) const {
    const F32s q = divide ? magnitude / factor : magnitude * factor;
    // Infinity * 0 is a NaN with a sign on some processors.
    return special ? floats(bits_of(q) & 0x7fffffff) : q;
  }

  /// The magnitude's code in the low 7 bits; above them anything. NaN is taken for an overflow.
  template <bool special>
  I32s code(F32s quotient) const {
    const I32s size = special ? smaller(bits_of(quotient), bound) : bits_of(quotient);
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
U8half encode_vector(I16s words, const Cast& cast) {
  const Pair x = Format::magnitudes(words);
  const F32s even = cast.template quotient<divide, special>(x.even),
             odd = cast.template quotient<divide, special>(x.odd);
  U16s codes = (interleaved(cast.template code<special>(even), cast.template code<special>(odd)) & 0x7f) |
               ((reinterpret_cast<U16s>(words) >> 8) & 0x80);
  if constexpr (special) {
    const U16s nan = interleaved(is_nan(even), is_nan(odd));
    codes = (codes & ~nan) | (interleaved(cast.nan, cast.nan) & nan);
  }
  return __builtin_convertvector(codes, U8half);
}

template <class Format, bool divide, bool special>
U8quarter encode_vector(I32s x, const Cast& cast) {
  const F32s quotient = cast.template quotient<divide, special>(floats(x & 0x7fffffff));
  I32s codes = (cast.template code<special>(quotient) & 0x7f) | ((x >> 24) & 0x80);
  if constexpr (special) codes = is_nan(quotient) ? cast.nan : codes;
  return __builtin_convertvector(codes, U8quarter);
}

// --- runs of blocks -----------------------------------------------------------------------------------------

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

/// Calls body(number, first column, columns) for every block of a run.
template <class Body>
void for_blocks(const Run& run, const Body& body) {
  std::int64_t number = 0;
  for (std::int64_t column = 0; column < run.columns; column += run.block, ++number) {
    body(number, column, run.columns - column < run.block ? run.columns - column : run.block);
  }
}

/// `top` is infinity's magnitude, the largest that is no NaN.
template <class Vector, class Word>
void largest_magnitudes(const Word* x, const Run& run, bool ignore_nan, Word top, std::uint32_t* each) {
  constexpr Word magnitude_bits = static_cast<Word>(~(Word{1} << (8 * sizeof(Word) - 1)));
  for_blocks(run, [&](std::int64_t block, std::int64_t column, std::int64_t columns) {
    Vector largest{};
    for (std::int64_t row = 0; row < run.rows; ++row) {
      along_row<Vector>(x + row * run.pitch + column, columns, [&](Vector words, std::int64_t, std::int64_t) {
        Vector magnitude = words & magnitude_bits;
        if (ignore_nan) magnitude = magnitude > top ? Vector{} : magnitude;
        largest = magnitude > largest ? magnitude : largest;
      });
    }
    each[block] = static_cast<std::uint32_t>(largest_lane<Word, vector_bytes>(largest));
  });
}

template <class Format>
void largest(const void* x, const Run& run, bool ignore_nan, std::uint32_t* each) {
  largest_magnitudes<typename Format::Words>(static_cast<const typename Format::Signed*>(x), run, ignore_nan,
                                             Format::top, each);
}

/// Asks for the line `ahead` elements on, which may lie beyond the array: no address is formed that C++ would mind.
template <bool to_write, class T>
void fetch(const T* here, std::int64_t ahead) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(here) + static_cast<std::uintptr_t>(ahead) * sizeof(T);
  __builtin_prefetch(reinterpret_cast<const void*>(address), to_write);
}

/// `ahead` elements on lies the next run: its lines are fetched meanwhile, to be read and to be written.
template <class Format, bool divide, bool special>
void encode_block(const typename Format::Signed* x, std::int64_t rows, std::int64_t columns,
                  std::int64_t pitch, std::int64_t ahead, const Cast& cast, std::uint8_t* codes) {
  for (std::int64_t row = 0; row < rows; ++row, x += pitch, codes += pitch) {
    along_row<typename Format::Words>(
        x, columns, [&](typename Format::Words words, std::int64_t at, std::int64_t count) {
          fetch<false>(x + at, ahead);
          fetch<true>(codes + at, ahead);
          store_first(codes + at, encode_vector<Format, divide, special>(words, cast), count);
        });
  }
}

template <class Format, bool divide>
void encode_run(const typename Format::Signed* x, const Run& run, const RunCast& how,
                const BlockFactor* factors, std::uint8_t* codes) {
  for_blocks(run, [&](std::int64_t block, std::int64_t column, std::int64_t columns) {
    const Cast cast(how, factors[block].factor);
    if (factors[block].special) {
      encode_block<Format, divide, true>(x + column, run.rows, columns, run.pitch, run.columns, cast,
                                         codes + column);
    } else {
      encode_block<Format, divide, false>(x + column, run.rows, columns, run.pitch, run.columns, cast,
                                          codes + column);
    }
  });
}

template <class Format>
void encode(const void* x, const Run& run, const RunCast& cast, const BlockFactor* factors,
            std::uint8_t* codes) {
  const auto* words = static_cast<const typename Format::Signed*>(x);
  cast.divide ? encode_run<Format, true>(words, run, cast, factors, codes)
              : encode_run<Format, false>(words, run, cast, factors, codes);
}

// --- the way back ------------------------------------------------------------------------------------------

/// fl32(code * scale) as bits, for codes in 32-bit lanes. A normal code's exponent and fraction move into binary32's
/// place; a subnormal is read as if it had a hidden bit, in the binade above, which is then taken off: the smaller of the
/// two readings is the code's value, whichever it is. A product is NaN for code 0x7f or a `special` scale, infinite or NaN.
template <bool special>
I32s decoded(I32s codes, F32s scale) {
  const I32s magnitude = codes & 0x7f, shifted = magnitude << 20;
  const I32s normal = shifted + exponent_of(-7);
  const I32s subnormal = bits_of(floats(shifted + exponent_of(-6)) - all(0x1p-6f));
  const I32s value = smaller(normal, subnormal) | ((codes & 0x80) << 24);
  const I32s product = bits_of(floats(value) * scale);
  I32s nan = magnitude == 0x7f;
  if constexpr (special) nan |= (product & 0x7fffffff) > infinity;
  return nan ? I32s{} + canonical_nan : product;
}

template <bool special>
void decode_row(const std::uint8_t* codes, std::int64_t count, float scale, float* x) {
  along_row<U8quarter>(codes, count, [&](U8quarter vector, std::int64_t at, std::int64_t now) {
    store_first(x + at, decoded<special>(__builtin_convertvector(vector, I32s), all(scale)), 4 * now);
  });
}

/// As BF16::rn, in the upper half of each lane. The canonical NaN becomes 0x7fff there, when nothing is added.
I32s rounded_to_bf16(I32s bits) {
  const I32s up = 0x7fff + ((bits >> 16) & 1);
  return bits == canonical_nan
             ? bits
             : reinterpret_cast<I32s>(reinterpret_cast<U32s>(bits) + reinterpret_cast<U32s>(up));
}

template <bool special>
void decode_row(const std::uint8_t* codes, std::int64_t count, float scale, std::uint16_t* x) {
  along_row<U8half>(codes, count, [&](U8half vector, std::int64_t at, std::int64_t now) {
    const I32s both = reinterpret_cast<I32s>(__builtin_convertvector(vector, U16s));
    const I32s even = rounded_to_bf16(decoded<special>(both & 0xff, all(scale)));
    const I32s odd = rounded_to_bf16(decoded<special>(both >> 16, all(scale)));
    store_first(x + at, interleaved(even >> 16, odd >> 16), 2 * now);
  });
}

template <class T>
void decode(const std::uint8_t* codes, std::int64_t count, float scale, T* x) {
  const bool special = (__builtin_bit_cast(std::int32_t, scale) & infinity) == infinity;
  special ? decode_row<true>(codes, count, scale, x) : decode_row<false>(codes, count, scale, x);
}

constexpr QuantizePath this_path{{largest<Bf16Format>, encode<Bf16Format>},
                                 {largest<F16Format>, encode<F16Format>},
                                 {largest<F32Format>, encode<F32Format>},
                                 decode<float>,
                                 decode<std::uint16_t>};

}  // namespace
}  // namespace fp8twin
