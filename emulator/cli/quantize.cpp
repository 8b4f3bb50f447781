// `quantize`: float tensors become E4M3 codes and block scales; `--match` asks which recipe made a file.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/cli/command.hpp"
#include "emulator/cli/quantize_plan.hpp"
#include "emulator/cli/recipe_match.hpp"
#include "emulator/cli/scaled_tensor.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/engine/quantize_engine.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/support/error.hpp"
#include "gpu/jit/sources.hpp"

namespace fp8twin::cli {
namespace {

struct Options {
  std::string in, out, block, recipe = "deepgemm", scale = "f32", match, engine = "model";
  std::vector<std::string> tensors;
  Simd simd = best_simd();
  CLI::Option* simd_option = nullptr;
};

void check_engine(const Options& options) {
  need_engine_name("--engine", options.engine);
  if (options.engine != "model" && options.simd_option->count() > 0) {
    throw Error(fmt::format("--simd: engine {} has no choice of instructions; needed is --engine model",
                            options.engine));
  }
}

/// What the engine says of itself, for the file and for JSON.
Metadata engine_metadata(const QuantizeEngine& engine) {
  Metadata metadata{
      {"engine", std::string(engine.name())}, {"device", engine.device()}, {"driver", engine.driver()}};
  if (engine.runs_kernels()) metadata["kernels"] = hex(jit::sources_digest(), 16);
  return metadata;
}

void check_out(const Options& options) {
  if (options.out.empty() && options.match.empty())
    throw Error("quantize: OUT is missing; needed is a .safetensors file to write");
  if (options.out.ends_with(".npy")) {
    throw Error(fmt::format(
        "{}: a .npy file holds one tensor, and codes with scales are two; needed is a .safetensors file",
        options.out));
  }
}

void write_quantized(const Options& options, const TensorFile& file, const QuantizePlan& plan,
                     QuantizeEngine& engine, Context& context) {
  const Recipe& recipe = recipe_from_name(options.recipe);
  const ScaleFormat format = options.scale == "f32" ? ScaleFormat::f32 : ScaleFormat::ue8m0;

  Metadata metadata = file.metadata;
  for (auto& [key, value] : provenance(context, options.engine)) metadata[key] = value;
  for (auto& [key, value] : engine_metadata(engine)) metadata[key] = value;
  std::vector<Tensor> tensors;
  std::vector<QuantizeResult> results;
  results.reserve(plan.items.size());  // the tensors below view these vectors
  Json list = Json::array();
  std::int64_t total = 0, done = 0;
  for (const QuantizeItem& item : plan.items) total += item.grid.elements();
  Progress progress("quantize", total);

  for (const Tensor& tensor : file.tensors) {
    const QuantizeItem* item = plan.find(tensor);
    if (!item) {
      tensors.push_back(tensor);
      continue;
    }
    QuantizeResult& result = results.emplace_back(run_recipe(*item, recipe, format, engine, context.threads));
    progress.update(done += item->grid.elements());
    const Shape shape = scale_shape(tensor.shape, item->grid);
    tensors.push_back(tensor_of<std::uint8_t>(tensor.name, DType::f8_e4m3, tensor.shape,
                                              std::as_const(result.codes).span()));
    tensors.push_back(
        tensor_of<float>(tensor.name + "_scale", DType::f32, shape, std::as_const(result.scales).span()));

    const Json how{{"recipe", recipe.name}, {"block", item->block}, {"scale", options.scale}};
    metadata["quantize " + tensor.name] = how.dump();
    list.push_back(
        {{"name", tensor.name}, {"shape", tensor.shape}, {"block", item->block}, {"scale_shape", shape}});
    context.text +=
        fmt::format("{} {} {} -> F8_E4M3, {} F32 {}: {}, recipe {}, scale {}\n", quote(tensor.name),
                    dtype_name(tensor.dtype), shape_text(tensor.shape), quote(tensor.name + "_scale"),
                    shape_text(shape), item->block, recipe.name, options.scale);
  }
  write_tensor_file(options.out, tensors, metadata);
  context.answer["recipe"] = recipe.name;
  context.answer["scale"] = options.scale;
  context.answer["output"] = options.out;
  context.answer["tensors"] = list;
}

void quantize_file(const Options& options, Context& context) {
  check_out(options);
  check_engine(options);
  if (!options.out.empty()) need_writable(options.out, {options.in, options.match});
  const TensorFile file = read_tensor_file(options.in);
  const QuantizePlan plan = plan_quantize(file, options.tensors, options.block);
  const std::unique_ptr<QuantizeEngine> engine = make_quantize_engine(options.engine, options.simd);
  for (auto& [key, value] : engine_metadata(*engine)) context.answer[key] = value;
  if (!options.out.empty()) write_quantized(options, file, plan, *engine, context);
  if (!options.match.empty()) match_recipes(options.match, plan, !options.block.empty(), *engine, context);
}

std::string recipe_help() {
  std::string text = "the order of operations, as in";
  for (const Recipe& recipe : all_recipes())
    text += fmt::format("\n  {}: {}; {}", recipe.name, recipe.origin, recipe.arithmetic);
  return text;
}

}  // namespace

void add_quantize(CLI::App& app, Context& context) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, context, "quantize",
      "BF16, F16 or F32 to E4M3 codes and block scales. Each 2-D or 3-D float tensor NAME (3-D: a leading "
      "dimension of "
      "experts, which share no block) becomes NAME and NAME_scale; all other tensors pass through, and so do "
      "scales of codes.",
      "fp8twin quantize weights.safetensors quantized.safetensors --recipe vllm --scale ue8m0\n"
      "  fp8twin quantize weights.safetensors quantized.safetensors --engine gpu\n"
      "  fp8twin quantize bf16.safetensors --match quantized.safetensors     # which recipe made it?");
  command->add_option("IN", options->in, ".safetensors or .npy file (its tensor is called data)")->required();
  command->add_option("OUT", options->out, ".safetensors file to write; may be left out with --match");
  command->add_option("--tensor", options->tensors, "quantise only this tensor; may be given more than once")
      ->type_name("NAME")
      ->take_all()
      ->expected(1);
  command
      ->add_option(
          "--block", options->block,
          "rows x columns that share a scale; default 1x128, and 128x128 for b and names ending in weight")
      ->check(CLI::IsMember({"1x128", "128x128"}));
  std::vector<std::string> names;
  for (const Recipe& recipe : all_recipes()) names.emplace_back(recipe.name);
  command->add_option("--recipe", options->recipe, recipe_help())
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command->add_option("--scale", options->scale, "ue8m0: powers of two, stored as F32")
      ->check(CLI::IsMember({"f32", "ue8m0"}))
      ->capture_default_str();
  command
      ->add_option(
          "--match", options->match,
          "count the codes and scales that differ from FILE's, for every recipe and scale format; exit "
          "status 0 when one matches all of them, else 1 (a NaN matches any NaN)")
      ->type_name("FILE");
  command
      ->add_option(
          "--engine", options->engine,
          "model (default): loops on the CPU; machine: the kernel on the emulated SM90; gpu: the kernel on "
          "the card; the same codes and scales")
      ->type_name("NAME");
  options->simd_option = add_simd(command, options->simd);
  command->callback([options, &context] { quantize_file(*options, context); });
}

}  // namespace fp8twin::cli
