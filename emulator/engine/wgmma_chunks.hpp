// A long chain of wgmma, cut along K into launches: what one leaves in d, the next starts from.
//
//   K = 32 steps   [ chunk 0 | chunk 1 | ... ]        c -> launch -> d -> launch -> d
//
// A chunk's tiles of A and B must fit shared memory. The cut does not show in the bits: between two k32 steps an
// accumulator is 32 bits in a register, in global memory as well as anywhere.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "emulator/model/problem.hpp"

namespace fp8twin {

/// Columns [k0, k0 + columns) of a matrix [rows, k] of codes, without gaps.
inline std::vector<std::uint8_t> columns_of(std::span<const std::uint8_t> codes, std::int64_t rows,
                                            std::int64_t k, std::int64_t k0, std::int64_t columns) {
  std::vector<std::uint8_t> part;
  part.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto from =
        codes.subspan(static_cast<std::size_t>(row * k + k0), static_cast<std::size_t>(columns));
    part.insert(part.end(), from.begin(), from.end());
  }
  return part;
}

/// One launch: codes of A [64, 32 * k_steps] and B [n, 32 * k_steps]; without scale_d the first instruction takes the
/// accumulators for nothing.
struct WgmmaChunk {
  std::uint32_t n = 8, k_steps = 1;
  std::vector<std::uint8_t> a, b;
  bool scale_d = false;
};

/// d of a wgmma problem. `launch(chunk, c)` runs the kernel and returns its d; most_steps is what one launch takes.
template <class Launch>
std::vector<float> run_in_chunks(const Problem& problem, std::int64_t most_steps, const Launch& launch) {
  std::vector<float> d(static_cast<std::size_t>(64 * problem.n), 0.0f);
  if (problem.has_c) std::copy(problem.c.begin(), problem.c.end(), d.begin());
  for (std::int64_t k0 = 0; k0 < problem.k; k0 += 32 * most_steps) {
    const std::int64_t columns = std::min(32 * most_steps, problem.k - k0);
    const WgmmaChunk chunk{static_cast<std::uint32_t>(problem.n), static_cast<std::uint32_t>(columns / 32),
                           columns_of(problem.a, 64, problem.k, k0, columns),
                           columns_of(problem.b, problem.n, problem.k, k0, columns), problem.has_c || k0 > 0};
    d = launch(chunk, d);
  }
  return d;
}

}  // namespace fp8twin
