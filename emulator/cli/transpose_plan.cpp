#include "emulator/cli/transpose_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "emulator/cli/scaled_tensor.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/number/scale_block.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

Shape turned(Shape shape) {
  if (shape.size() >= 2) std::swap(shape.back(), shape[shape.size() - 2]);
  return shape;
}

/// The tensors that an option names: by its whole text, else by the words between its commas.
std::vector<std::string> names_in(const TensorFile& file, const std::string& option) {
  if (file.find(option)) return {option};
  std::vector<std::string> names;
  for (std::size_t start = 0; start <= option.size();) {
    const std::size_t comma = std::min(option.find(',', start), option.size());
    names.push_back(option.substr(start, comma - start));
    start = comma + 1;
  }
  return names;
}

void check_codes(const TensorFile& file, const Tensor& tensor) {
  if (tensor.shape.size() != 2 && tensor.shape.size() != 3) {
    throw Error(fmt::format("{}: tensor {} has shape {}; a tensor of two or three dimensions is needed",
                            file.path, quote(tensor.name), shape_text(tensor.shape)));
  }
  const Tensor* sizes = file.find("k_sizes");
  if (sizes && sizes->elements() > 1 && (tensor.name == "a" || tensor.name == "b")) {
    throw Error(
        fmt::format("{}: tensor {} is grouped along K by \"k_sizes\", at whose borders blocks of scales "
                    "begin anew; needed is one "
                    "group for each file",
                    file.path, quote(tensor.name)));
  }
}

/// A scale for each row, of 128 columns or of all: after turning it would be one for each column.
[[noreturn]] void refuse_scale_of_rows(const TensorFile& file, const Tensor& codes, const Tensor& scale) {
  throw Error(
      fmt::format("{0}: tensor {1} has shape {2}, a scale for each row of {3} {4}, which would become one "
                  "for each column, and no "
                  "GEMM takes that; needed are new scales along the new rows: 'fp8twin dequantize {0} VALUES "
                  "--tensor {5}', 'fp8twin "
                  "transpose VALUES TURNED --tensor {5}', 'fp8twin quantize TURNED OUT --tensor {5}' (it "
                  "rounds once more; scales of "
                  "128x128 need none of this)",
                  file.path, quote(scale.name), shape_text(scale.shape), quote(codes.name),
                  shape_text(codes.shape), codes.name));
}

Shape turned_scale(const TensorFile& file, const Tensor& codes, const Tensor& scale) {
  if (scale.shape.empty() || scale.shape == Shape{1}) return scale.shape;
  const auto [experts, rows, columns] = extents_of(codes.shape);
  if (scale.shape.size() == codes.shape.size()) {
    const auto [scale_experts, down, across] = extents_of(scale.shape);
    const bool known_across = across == scale_blocks(columns) || across == columns || across == 1;
    if (scale_experts == experts) {
      if (down == scale_blocks(rows) && (across == scale_blocks(columns) || across == columns))
        return turned(scale.shape);
      if (down == 1 && known_across) return turned(scale.shape);
      if (down == rows && (across == scale_blocks(columns) || across == 1))
        refuse_scale_of_rows(file, codes, scale);
    }
  }
  throw Error(fmt::format(
      "{}: tensor {} has shape {}, no grid of scales of {}, shape {}; needed is a scale for "
      "each 128x128, each 128x1, or all",
      file.path, quote(scale.name), shape_text(scale.shape), quote(codes.name), shape_text(codes.shape)));
}

}  // namespace

const TransposeItem* TransposePlan::find(const Tensor& tensor) const {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.tensor == &tensor; });
  return found == items.end() ? nullptr : &*found;
}

TransposePlan plan_transpose(const TensorFile& file, const std::vector<std::string>& options) {
  TransposePlan plan;
  for (const std::string& option : options) {
    for (const std::string& name : names_in(file, option)) {
      const Tensor& tensor = file.at(name);
      if (plan.find(tensor)) {
        throw Error(fmt::format(
            "--tensor: found {} twice, or after the tensor whose scale it is; once is needed", quote(name)));
      }
      check_codes(file, tensor);
      plan.items.push_back({&tensor, false, turned(tensor.shape)});
      const Tensor* scale = dtype_size(tensor.dtype) == 1 ? find_scale(file, tensor) : nullptr;
      if (scale) plan.items.push_back({scale, true, turned_scale(file, tensor, *scale)});
    }
  }
  return plan;
}

}  // namespace fp8twin::cli
