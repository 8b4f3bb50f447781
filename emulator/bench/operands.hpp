// Operands for benchmarks: the bytes `fp8twin random` would write for the same shape, held in memory.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "emulator/model/problem.hpp"
#include "emulator/number/scale_block.hpp"

namespace fp8twin::bench {

/// A dense 1D2D problem over normal-like codes, and the arrays it looks at.
class Operands {
 public:
  Operands(std::int64_t m, std::int64_t n, std::int64_t k)
      : a_(size(m, k)),
        b_(size(n, k)),
        a_scale_(size(m, scale_blocks(k))),
        b_scale_(size(scale_blocks(n), scale_blocks(k))) {
    fill_codes(Distribution::normal, 1, Operand::a, k, a_);
    fill_codes(Distribution::normal, 1, Operand::b, k, b_);
    fill_scales(Distribution::normal, 1, Operand::a_scale, a_scale_);
    fill_scales(Distribution::normal, 1, Operand::b_scale, b_scale_);
    problem_.m = m;
    problem_.n = n;
    problem_.k = k;
    problem_.a = a_;
    problem_.b = b_;
    problem_.a_scale = a_scale_;
    problem_.b_scale = b_scale_;
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  const Problem& problem() const { return problem_; }
  const std::vector<std::uint8_t>& a() const { return a_; }

  /// A NaN code in every 16th row of A and of B, an infinite and a NaN scale in every 16th row of A's.
  void make_special() {
    const std::int64_t k = problem_.k, blocks = scale_blocks(k);
    for (std::int64_t row = 0; row < problem_.m; row += 16) {
      a_[size(row, k) + size(row % k, 1)] = 0x7f;
      a_scale_[size(row, blocks)] =
          row % 32 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    }
    for (std::int64_t row = 0; row < problem_.n; row += 16) b_[size(row, k) + size(row % k, 1)] = 0xff;
  }

 private:
  static std::size_t size(std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(rows * columns);
  }

  std::vector<std::uint8_t> a_, b_;
  std::vector<float> a_scale_, b_scale_;
  Problem problem_;
};

}  // namespace fp8twin::bench
