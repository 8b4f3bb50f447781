// The body of a path: lanes.hpp's functions in the words of avx512.hpp or avx2.hpp, whichever was included before.
//
// Everything has internal linkage and only <cstring>'s memcpy is called (support/simd.hpp says why).
#pragma once

#include <cstring>

#include "emulator/number/lanes/lanes.hpp"

namespace fp8twin {
namespace {

/// The processor rounds toward zero, keeps subnormals and traps nothing while this lives. What is to be rounded so sits in a function of its own, which the
/// compiler cannot move out of here.
class RoundTowardZero {
 public:
  RoundTowardZero() : before_(_mm_getcsr()) { _mm_setcsr(_MM_MASK_MASK | _MM_ROUND_TOWARD_ZERO); }
  ~RoundTowardZero() { _mm_setcsr(before_); }
  RoundTowardZero(const RoundTowardZero&) = delete;
  RoundTowardZero& operator=(const RoundTowardZero&) = delete;

 private:
  unsigned before_;
};

struct Decoded {
  Vec::F magnitude;  // 0 for NaN
  Vec::I exponent;   // max(field, 1) + 112: e + 119; 0 for zeros and NaN
  Vec::I sign;       // 0x80 or 0
};

inline Decoded decode(Vec::I codes) {
  const Vec::I magnitude = Vec::both(codes, Vec::all(0x7fu));
  const Vec::M nan = Vec::equal(magnitude, Vec::all(0x7fu)), zero = Vec::equal(magnitude, Vec::all(0u));
  // Field and fraction fall into binary32's places; a subnormal gets the smallest normal's exponent and loses the 1.
  const Vec::I bits = Vec::left<20>(magnitude);
  const Vec::F normal = Vec::as_float(Vec::add(bits, Vec::all((127u - 7) << 23)));
  const Vec::F subnormal =
      Vec::sub(Vec::as_float(Vec::add(bits, Vec::all((127u - 6) << 23))), Vec::all(0x1p-6f));
  const Vec::F value = Vec::select(Vec::less(magnitude, Vec::all(8u)), subnormal, normal);
  const Vec::I exponent = Vec::add(Vec::max(Vec::right<3>(magnitude), Vec::all(1u)), Vec::all(112u));
  return {Vec::drop(nan, value), Vec::drop(nan, Vec::drop(zero, exponent)),
          Vec::both(codes, Vec::all(0x80u))};
}

/// Asks for the next cache line of a row, needed a step or two from now. It may lie beyond the array: no address is formed that C++
/// would mind.
inline void ask_for_next(const std::uint8_t* row) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(row) + 2 * step_depth));
}

void load_columns(const std::uint8_t* codes, std::int64_t stride, int columns, int depth, ColumnGroup& to) {
  alignas(64) std::uint8_t rows[step_columns][step_depth];
  if (columns < step_columns || depth < step_depth) std::memset(rows, 0, sizeof rows);
  for (int j = 0; j < columns; ++j) {
    ask_for_next(codes + j * stride);
    if (depth == step_depth) {
      std::memcpy(rows[j], codes + j * stride, step_depth);
    } else {
      std::memcpy(rows[j], codes + j * stride, static_cast<std::size_t>(depth));
    }
  }
  for (int j = 0; j < step_columns; j += Vec::lanes) {
    for (int k4 = 0; k4 < step_depth; k4 += 4) {
      Vec::I four = Vec::gather_32_apart(&rows[j][k4]);  // four codes of each column
      for (int k = k4; k < k4 + 4; ++k, four = Vec::right<8>(four)) {
        const Decoded b = decode(Vec::both(four, Vec::all(0xffu)));
        const Vec::M negative = Vec::equal(b.sign, Vec::all(0x80u));
        Vec::store(&to.magnitude[k][j], b.magnitude);
        Vec::store(&to.of_sign[k][0][j], Vec::drop(negative, b.magnitude));
        Vec::store(&to.of_sign[k][1][j], Vec::keep(negative, b.magnitude));
        Vec::narrow(&to.exponent[k][j], b.exponent);
      }
    }
  }
}

void load_rows(const std::uint8_t* codes, std::int64_t stride, int rows, int depth, RowGroup* to) {
  for (int i = 0; i < rows; ++i, ++to) {
    const std::uint8_t* row = codes + i * stride;
    ask_for_next(row);
    std::uint8_t padded[step_depth] = {};
    if (depth < step_depth) {
      std::memcpy(padded, row, static_cast<std::size_t>(depth));
      row = padded;
    }
    for (int k = 0; k < step_depth; k += Vec::lanes) {
      const Decoded a = decode(Vec::widen(row + k));
      Vec::store_unaligned(to->magnitude + k, a.magnitude);
      static_assert(sizeof(ColumnGroup::of_sign[0][0]) == 0x80 << 1);
      Vec::store_unaligned(to->offset + k, Vec::left<1>(a.sign));
      Vec::store_unaligned(to->exponent + k, Vec::mul(a.exponent, Vec::all(0x01010101u)));
    }
  }
}

/// field[r][j]: E of the products of row r and column j, as binary32's exponent field; 1 where all are zero.
template <int R>
inline void product_exponents(int depth, const RowGroup* a, const ColumnGroup& b,
                              std::uint8_t (*field)[step_columns]) {
  for (int j = 0; j < step_columns; j += Vec::bytes) {
    Vec::B top[R];
    for (int r = 0; r < R; ++r) top[r] = Vec::all_bytes(0);
#pragma GCC unroll 4
    for (int k = 0; k < depth; ++k) {
      const Vec::B eb = Vec::load_bytes(&b.exponent[k][j]);
      for (int r = 0; r < R; ++r) {
        top[r] = Vec::max_bytes(top[r], Vec::add_bytes(eb, Vec::repeat(a[r].exponent[k])));
      }
    }
    // 226 to 254 stand for E = -12 to 16.
    for (int r = 0; r < R; ++r) {
      const Vec::B e = Vec::sub_bytes(top[r], Vec::all_bytes(2 * 119 - 127));
      Vec::store_bytes(&field[r][j], Vec::by_top_bit(top[r], e, Vec::all_bytes(1)));
    }
  }
}

/// One step for R rows and all columns; the processor rounds toward zero.
template <int R>
[[gnu::noinline]] void step_rows(const StepForm& form, const RowGroup* a, const ColumnGroup& b,
                                 float* chain) {
  constexpr int V = Vec::vectors_at_once, lanes = Vec::lanes;
  const int depth = form.depth;
  const int spare = 23 - form.fraction_bits;
  const Vec::I room = Vec::all(static_cast<std::uint32_t>(spare) << 23),
               kept = Vec::all(~((1u << spare) - 1));

  alignas(64) std::uint8_t field[R][step_columns];
  product_exponents<R>(depth, a, b, field);

  for (int j = 0; j < step_columns; j += V * lanes) {
    Vec::F T[R][V], P[R][V];
    alignas(64) float start[R][V * lanes];  // M
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        const Vec::F c = Vec::load(chain + r * step_columns + j + v * lanes);
        const Vec::I magnitude = Vec::both(Vec::as_bits(c), Vec::all(0x7fffffffu));
        const Vec::I own = Vec::both(magnitude, Vec::all(0x7f800000u));
        const Vec::I products = Vec::left<23>(Vec::widen(&field[r][j + v * lanes]));
        const Vec::F m = Vec::as_float(Vec::add(Vec::max(products, own), room));
        Vec::store(&start[r][v * lanes], m);
        T[r][v] = Vec::add(m, Vec::as_float(magnitude));
        P[r][v] = Vec::add(m, Vec::above_zero(c));
      }
    }
#pragma GCC unroll 2
    for (int k = 0; k < depth; ++k) {
      Vec::F all[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) all[v] = Vec::load(&b.magnitude[k][j + v * lanes]);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const Vec::F x = Vec::all(a[r].magnitude[k]);
        const auto* same_sign = reinterpret_cast<const float*>(
            reinterpret_cast<const char*>(&b.of_sign[k][0][j]) + a[r].offset[k]);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
          T[r][v] = Vec::fma(x, all[v], T[r][v]);
          P[r][v] = Vec::fma(x, Vec::load(same_sign + v * lanes), P[r][v]);
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        const Vec::F above = Vec::sub(P[r][v], Vec::load(&start[r][v * lanes])),
                     below = Vec::sub(T[r][v], P[r][v]);
        Vec::store(chain + r * step_columns + j + v * lanes,
                   Vec::as_float(Vec::both(Vec::as_bits(Vec::sub(above, below)), kept)));
      }
    }
  }
}

void step(const StepForm& form, const RowGroup* a, int rows, const ColumnGroup& b, float* chain) {
  constexpr int R = Vec::rows_at_once;
  const RoundTowardZero rounding;
  int i = 0;
  for (; i + R <= rows; i += R) step_rows<R>(form, a + i, b, chain + i * step_columns);
  for (; i < rows; ++i) step_rows<1>(form, a + i, b, chain + i * step_columns);
}

void promote(const float* a_scale, std::int64_t stride, int rows, const float* b_scale, float* chain,
             float* final) {
  for (int i = 0; i < rows; ++i) {
    const Vec::F sa = Vec::all(a_scale[i * stride]);
    for (int j = 0; j < step_columns; j += Vec::lanes, chain += Vec::lanes, final += Vec::lanes) {
      const Vec::F s = Vec::mul(sa, Vec::load(b_scale + j));
      Vec::store(final, Vec::fma(s, Vec::load(chain), Vec::load(final)));
      Vec::store(chain, Vec::all(0.0f));
    }
  }
}

bool holds_nan(const std::uint8_t* codes, std::int64_t count) {
  std::uint8_t any = 0;
  for (std::int64_t k = 0; k < count; ++k) any |= static_cast<std::uint8_t>((codes[k] & 0x7f) == 0x7f);
  return any != 0;
}

}  // namespace
}  // namespace fp8twin
