// Operands for benchmarks: the bytes `fp8twin random` would write for the same shape, held in memory.
#pragma once

#include <cstdint>
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

 private:
  static std::size_t size(std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(rows * columns);
  }

  std::vector<std::uint8_t> a_, b_;
  std::vector<float> a_scale_, b_scale_;
  Problem problem_;
};

}  // namespace fp8twin::bench
