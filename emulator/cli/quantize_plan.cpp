#include "emulator/cli/quantize_plan.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "emulator/files/quote.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

std::string default_block(const std::string& name) {
  return name == "b" || name.ends_with("weight") ? "128x128" : "1x128";
}

bool can_be_quantized(const Tensor& tensor) {
  return float_values(tensor) && (tensor.shape.size() == 2 || tensor.shape.size() == 3);
}

QuantizeItem item_of(const TensorFile& file, const Tensor& tensor, const std::string& block, bool named) {
  const std::string used = block.empty() ? default_block(tensor.name) : block;
  const auto [experts, rows, columns] = extents_of(tensor.shape);
  const BlockShape shape = used == "1x128" ? block_1x128 : block_128x128;
  return {&tensor, *float_values(tensor), used,
          BlockGrid(experts, rows, columns, shape, column_groups(file, tensor)), named};
}

void check_names(const TensorFile& file, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Tensor& tensor = file.at(name);
    if (can_be_quantized(tensor)) continue;
    throw Error(
        fmt::format("{}: tensor {} is {} {}; quantising needs BF16, F16 or F32 of two or three dimensions",
                    file.path, quote(name), dtype_name(tensor.dtype), shape_text(tensor.shape)));
  }
}

}  // namespace

const QuantizeItem* QuantizePlan::find(const Tensor& tensor) const {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.tensor == &tensor; });
  return found == items.end() ? nullptr : &*found;
}

QuantizePlan plan_quantize(const TensorFile& file, const std::vector<std::string>& names,
                           const std::string& block) {
  check_names(file, names);
  QuantizePlan plan{&file, {}};
  for (const Tensor& tensor : file.tensors) {
    const bool named = std::find(names.begin(), names.end(), tensor.name) != names.end();
    if (!named && (!names.empty() || !can_be_quantized(tensor) || is_scale(file, tensor))) continue;
    if (const Tensor* taken = file.find(tensor.name + "_scale")) {
      throw Error(fmt::format(
          "{}: tensor {} would get its scales as {}, a name the file holds already; needed is another "
          "name, or --tensor to leave it out",
          file.path, quote(tensor.name), quote(taken->name)));
    }
    plan.items.push_back(item_of(file, tensor, block, named));
  }
  if (plan.items.empty()) {
    throw Error(fmt::format(
        "{}: holds no tensor to quantise; needed is BF16, F16 or F32 of two or three dimensions", file.path));
  }
  return plan;
}

QuantizeResult run_recipe(const QuantizeItem& item, const Recipe& recipe, ScaleFormat format,
                          QuantizeEngine& engine, int threads) {
  QuantizeResult result{Buffer<std::uint8_t>(static_cast<std::size_t>(item.grid.elements())),
                        Buffer<float>(static_cast<std::size_t>(item.grid.scales()))};
  engine.quantize(recipe, format, item.grid, item.values, result.codes.span(), result.scales.span(), threads);
  return result;
}

}  // namespace fp8twin::cli
