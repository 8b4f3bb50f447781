// Which tensors `transpose` turns, and what becomes of their scales.
//
//   NAME [R,C] with NAME_scale   blocks     becomes [C,R] with scale
//   [R/128, C/128]               128x128    [C/128, R/128]
//   [R/128, C]                   128x1      [C, R/128]       1x128: a's, where a was stored [K,M]
//   [1, C]                       a column   [C, 1]
//   [1, 1], [1], []              all        the same
//   [R, C/128]                   1x128      refused: one scale for 128 rows of a column is no block of a problem
//   [R, 1]                       a row      refused likewise
//
// With a leading dimension of experts each matrix is turned by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"

namespace fp8twin::cli {

struct TransposeItem {
  const Tensor* tensor;
  bool is_scale;  // of a tensor that was named
  Shape shape;    // what it becomes
};

struct TransposePlan {
  std::vector<TransposeItem> items;

  const TransposeItem* find(const Tensor& tensor) const;
};

/// `names` as typed: NAME, or several with commas between. Throws Error that names file, tensor, what was found and what is
/// needed; for scales that cannot be turned it says how to get there.
TransposePlan plan_transpose(const TensorFile& file, const std::vector<std::string>& names);

}  // namespace fp8twin::cli
