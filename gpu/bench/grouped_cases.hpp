// The grouped products that are timed, and what is aimed at: parts of an unscaled cuBLASLt FP8 GEMM of 8192^3 in the same run,
// or of the bandwidth of a stream that only reads.
//
//   prefill     contiguous groups, thousands of rows each           bound by the tensor cores
//   decode      masked groups, tens or hundreds of rows             bound by the weights' bytes
//   training    1D1D with an FP32 D that accumulates; along K       bound by the promotion
//
// `published`: the best open kernel on an H200, TFLOP/s or TB/s.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/bench/statistics.hpp"
#include "gpu/launch/product.hpp"

namespace fp8twin::bench {

struct GroupedCase {
  std::string name;
  Product product;        // with the rows, or the sizes along K, of each group
  double aim = 0;         // as a part of the unscaled GEMM's rate, or of the stream's; 0: none
  double published = 0;   // operations or bytes a second; 0: none
  bool by_bytes = false;  // aim and published are of bytes

  bool output_f32() const { return product.form.b_scale_per_row; }
  double operations() const;
  /// A, B, scales and D of the groups that have rows, each once; D twice where it accumulates.
  double bytes() const;
};

std::vector<GroupedCase> grouped_cases();

struct GroupedRow {
  GroupedCase what;
  std::string config;
  Summary ours;                       // us
  std::optional<Summary> one_by_one;  // us: the groups as launches of their own
  std::optional<Summary> cublaslt;    // us: the same by cuBLASLt
  std::optional<i64> differing;       // elements, from the groups one by one
};

/// A table in Markdown, and a sentence for each aim that is missed.
std::string grouped_markdown(const std::vector<GroupedRow>& rows, double operations_per_second,
                             double read_bytes_per_second);

}  // namespace fp8twin::bench
