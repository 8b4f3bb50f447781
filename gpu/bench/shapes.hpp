// The shapes that are timed, and the figures to beat.
//
//   D [m,n] = A [m,k] B [n,k]^T, A with a scale for each 1 x 128, B with one for each 128 x 128, D in BF16
//
//   12 shapes   M = 64, 128          decode and small batches: bytes decide
//    8 shapes   M >= 4096            prefill and training: operations decide
//   24 shapes   M = 1, 8, 16, 32     of the same six (N, K): decode; no figure to beat
//
// The figures are DeepGEMM's (June 2026), kernel duration on one H200, CUDA 13.0, random normal data, the mean of 30 runs,
// 8 GB written before each; cuBLASLt's beside them are from the same run. What is compared is a ratio, cuBLASLt's time over
// a kernel's, so that another card of the same kind, or a warmer one, shifts both.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/layout/integers.hpp"

namespace fp8twin::bench {

struct Shape {
  i64 m = 0, n = 0, k = 0;
  friend auto operator<=>(const Shape&, const Shape&) = default;

  std::string name() const;  // "64x7168x16384"
  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  /// What must cross the memory's bus once: codes, scales, and D.
  double bytes() const;
};

/// One line of the published table.
struct Figure {
  Shape shape;
  double best_us, best_tflops;          // DeepGEMM
  double cublaslt_us, cublaslt_tflops;  // in its run
  double ratio;                         // cublaslt_us / best_us
};

/// The 20 of them.
std::span<const Figure> figures();
std::optional<Figure> figure_of(const Shape& shape);

/// figures() in their order, then the 24 for decode.
std::vector<Shape> all_shapes();

/// "64,7168,16384;128,4096,7168". Throws Error for anything else.
std::vector<Shape> parse_shapes(std::string_view text);

}  // namespace fp8twin::bench
