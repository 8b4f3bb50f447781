// Which tensors of a file `quantize` works on, and in which blocks.
//
//   2-D or 3-D BF16, F16, F32         quantised: 128x128 for "b" and names ending in "weight", else 1x128
//   NAME_scale beside codes NAME      passed through: it is a scale already
//   anything else                     passed through
#pragma once

#include <string>
#include <vector>

#include "emulator/cli/scaled_tensor.hpp"
#include "emulator/engine/quantize_engine.hpp"
#include "emulator/support/buffer.hpp"

namespace fp8twin::cli {

struct QuantizeItem {
  const Tensor* tensor;
  Values values;
  std::string block;  // "1x128" or "128x128"
  BlockGrid grid;
  bool named;  // asked for with --tensor
};

struct QuantizePlan {
  const TensorFile* file;
  std::vector<QuantizeItem> items;

  const QuantizeItem* find(const Tensor& tensor) const;
};

/// `names`: only these tensors (none: all that can be); `block`: "1x128", "128x128", or "" for each tensor's
/// default. Throws Error when a named tensor is missing or cannot be quantised, when a scale's name is taken,
/// or when nothing is left.
QuantizePlan plan_quantize(const TensorFile& file, const std::vector<std::string>& names,
                           const std::string& block);

struct QuantizeResult {
  Buffer<std::uint8_t> codes;
  Buffer<float> scales;
};

QuantizeResult run_recipe(const QuantizeItem& item, const Recipe& recipe, ScaleFormat format,
                          QuantizeEngine& engine, int threads);

}  // namespace fp8twin::cli
