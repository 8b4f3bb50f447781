// `dequantize`: E4M3 codes times their block scales, rounded once to binary32, and once more to BF16 if
// asked.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/cli/command.hpp"
#include "emulator/cli/scaled_tensor.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/support/buffer.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

struct Options {
  std::string in, out, output = "f32";
  std::vector<std::string> tensors;  // none: all
  Simd simd = best_simd();
};

/// Codes with their scales, and room for the numbers: one of the two vectors, as the output format says.
struct Item {
  const Tensor* codes;
  const Tensor* scale;
  BlockGrid grid;
  Buffer<float> f32;
  Buffer<BF16> bf16;
};

std::vector<Item> items_of(const TensorFile& file, const std::vector<std::string>& names) {
  std::vector<Item> items;
  for (const std::string& name : names) {
    const Tensor& tensor = file.at(name);
    if (tensor.dtype == DType::f8_e4m3 && find_scale(file, tensor)) continue;
    throw Error(fmt::format(
        "{}: tensor {} has dtype {} and {}; F8_E4M3 codes with NAME_scale or NAME_scale_inv are needed",
        file.path, quote(name), dtype_name(tensor.dtype), find_scale(file, tensor) ? "a scale" : "no scale"));
  }
  for (const Tensor& tensor : file.tensors) {
    const bool named = std::find(names.begin(), names.end(), tensor.name) != names.end();
    if (tensor.dtype != DType::f8_e4m3 || (!names.empty() && !named)) continue;
    const Tensor* scale = find_scale(file, tensor);
    if (!scale) continue;
    if (tensor.shape.size() != 2 && tensor.shape.size() != 3) {
      throw Error(fmt::format("{}: tensor {} has shape {}; codes with scales need two or three dimensions",
                              file.path, quote(tensor.name), shape_text(tensor.shape)));
    }
    items.push_back({&tensor, scale, grid_of_scales(file, tensor, *scale), {}, {}});
  }
  if (items.empty()) {
    throw Error(fmt::format("{}: holds no F8_E4M3 tensor NAME with NAME_scale or NAME_scale_inv", file.path));
  }
  return items;
}

Tensor run(const TensorFile& file, Item& item, bool to_bf16, int threads, Simd simd) {
  const auto codes = item.codes->as<std::uint8_t>();
  std::vector<float> scales = scale_values(file.path, *item.scale);
  if (codes.empty()) scales.clear();  // no block, whatever the file's scales are
  if (to_bf16) {
    item.bf16 = Buffer<BF16>(codes.size());
    dequantize(item.grid, codes, scales, item.bf16.span(), threads, simd);
    return tensor_of<BF16>(item.codes->name, DType::bf16, item.codes->shape, std::as_const(item.bf16).span());
  }
  item.f32 = Buffer<float>(codes.size());
  dequantize(item.grid, codes, scales, item.f32.span(), threads, simd);
  return tensor_of<float>(item.codes->name, DType::f32, item.codes->shape, std::as_const(item.f32).span());
}

std::string block_text(const BlockGrid& grid) {
  return fmt::format("{}x{}", grid.shape.rows, grid.shape.columns);
}

void dequantize_file(const Options& options, Context& context) {
  need_writable(options.out, {options.in});
  const TensorFile file = read_tensor_file(options.in);
  std::vector<Item> items = items_of(file, options.tensors);
  const auto item_with = [&](const Tensor* Item::*part, const Tensor& tensor) -> Item* {
    for (Item& item : items) {
      if (item.*part == &tensor) return &item;
    }
    return nullptr;
  };
  std::int64_t total = 0, done = 0;
  for (const Item& item : items) total += item.grid.elements();
  Progress progress("dequantize", total);

  std::vector<Tensor> tensors;
  Json list = Json::array();
  for (const Tensor& tensor : file.tensors) {
    if (item_with(&Item::scale, tensor)) continue;
    Item* item = item_with(&Item::codes, tensor);
    if (!item) {
      tensors.push_back(tensor);
      continue;
    }
    tensors.push_back(run(file, *item, options.output == "bf16", context.threads, options.simd));
    progress.update(done += item->grid.elements());
    const Tensor& result = tensors.back();
    list.push_back({{"name", result.name},
                    {"dtype", dtype_name(result.dtype)},
                    {"shape", result.shape},
                    {"block", block_text(item->grid)}});
    context.text +=
        fmt::format("{} F8_E4M3 with {} ({}) -> {} {}\n", quote(tensor.name), quote(item->scale->name),
                    block_text(item->grid), dtype_name(result.dtype), shape_text(result.shape));
  }
  Metadata metadata = file.metadata;
  for (const auto& item : items) metadata.erase("quantize " + item.codes->name);
  for (auto& [key, value] : provenance(context, "model")) metadata[key] = value;
  write_tensor_file(options.out, tensors, metadata);
  context.answer = {{"output", options.out}, {"tensors", list}};
}

}  // namespace

void add_dequantize(CLI::App& app, Context& context) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, context, "dequantize",
                                  "code x scale, rounded once to binary32: every F8_E4M3 tensor NAME with "
                                  "NAME_scale or NAME_scale_inv becomes a float "
                                  "tensor NAME; all other tensors pass through. The scales' shape says what "
                                  "shares one: 1x128, 128x128, a row, or all.",
                                  "fp8twin dequantize checkpoint.safetensors bf16.safetensors --output bf16");
  command->add_option("IN", options->in, "problem file or checkpoint")->required();
  command->add_option("OUT", options->out, "file to write; .npy for a single tensor")->required();
  command->add_option("--tensor", options->tensors, "only this tensor's codes; may be given more than once")
      ->type_name("NAME")
      ->take_all()
      ->expected(1);
  command->add_option("--output", options->output, "bf16: rounded once more, to nearest even")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  add_simd(command, options->simd);
  command->callback([options, &context] { dequantize_file(*options, context); });
}

}  // namespace fp8twin::cli
