// Operands of one dense product over a named distribution, and the slices over them.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "emulator/model/slices.hpp"

namespace fp8twin::test {

/// Operands of one dense product and the slice over them.
struct Dense {
  std::int64_t m, n, k, b_rows;
  std::vector<std::uint8_t> a, b;
  std::vector<float> a_scale, b_scale, c;

  Dense(std::int64_t m_, std::int64_t n_, std::int64_t k_, std::int64_t b_rows_, Distribution distribution,
        std::uint64_t seed)
      : m(m_),
        n(n_),
        k(k_),
        b_rows(b_rows_),
        a(size(m * k)),
        b(size(n * k)),
        a_scale(size(m * blocks())),
        b_scale(size((n + b_rows - 1) / b_rows * blocks())),
        c(size(m * n)) {
    fill_codes(distribution, seed, Operand::a, k, a);
    fill_codes(distribution, seed, Operand::b, k, b);
    fill_scales(distribution, seed, Operand::a_scale, a_scale);
    fill_scales(distribution, seed, Operand::b_scale, b_scale);
    fill_c(distribution, seed, c);
  }
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
  std::int64_t blocks() const { return (k + 127) / 128; }

  GemmSlice slice(bool with_c = false) const {
    return {a.data(),
            k,
            b.data(),
            k,
            a_scale.data(),
            blocks(),
            b_scale.data(),
            blocks(),
            b_rows,
            with_c ? c.data() : nullptr,
            m,
            n,
            k,
            0};
  }

  /// Without scales: a chain that starts from c.
  GemmSlice wgmma_slice() const {
    GemmSlice s = slice(true);
    s.a_scale = s.b_scale = nullptr;
    return s;
  }
};

}  // namespace fp8twin::test
