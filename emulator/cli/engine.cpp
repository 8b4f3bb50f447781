#include "emulator/cli/engine.hpp"

#include <fmt/core.h>

#include <optional>
#include <vector>

#include "emulator/cli/values.hpp"
#include "emulator/model/gemm.hpp"

namespace fp8twin::cli {
namespace {

DType output_type(const EngineOptions& options, const Problem& problem) {
  if (options.output.empty()) return problem.default_output();
  if (options.output == "bf16") return DType::bf16;
  if (options.output == "f32") return DType::f32;
  throw Error(fmt::format("--output: found '{}'; bf16 or f32 is needed", options.output));
}

bool promotes(const EngineOptions& options) {
  if (options.promote == "128") return true;
  if (options.promote == "none") return false;
  throw Error(fmt::format("--promote: found '{}'; 128 (each K block, as the kernels do) or none is needed",
                          options.promote));
}

Metadata result_metadata(const Context& context, const EngineOptions& options, const Problem& problem) {
  Metadata metadata = provenance(context, options.engine);
  metadata["kind"] = kind_name(problem.kind);
  const auto seed = problem.file.metadata.find("seed");  // of the operands: nothing else here is random
  if (seed != problem.file.metadata.end()) metadata["seed"] = seed->second;
  if (options.fraction_bits != sm90.fraction_bits)
    metadata["fraction_bits"] = std::to_string(options.fraction_bits);
  if (options.promote != "128") metadata["promote"] = options.promote;
  return metadata;
}

}  // namespace

void add_engine_options(CLI::App* command, EngineOptions& options, const std::string& input) {
  command->add_option(input, options.problem, "the file with the operands (fp8twin random makes one)")
      ->required();
  command->add_option("-o", options.out, "the file to write d to (.safetensors or .npy)")
      ->required()
      ->type_name("OUT");
  command
      ->add_option("--engine", options.engine,
                   "model (default): arithmetic on the CPU; machine and gpu are not in this version")
      ->type_name("NAME");
  add_integer(command, "--fraction-bits", options.fraction_bits,
              "what if the tensor core kept this many bits below 2^E (default 13, Hopper's)",
              min_fraction_bits, max_fraction_bits);
}

void need_engine(const EngineOptions& options) {
  if (options.engine == "model") return;
  if (options.engine == "machine" || options.engine == "gpu") {
    throw Error(
        fmt::format("--engine {}: this version of fp8twin has no such engine yet; needed is --engine model",
                    options.engine));
  }
  throw Error(fmt::format("--engine: found '{}'; model is needed", options.engine));
}

void compute(Context& context, const EngineOptions& options, const Problem& problem) {
  const DType type = output_type(options, problem);
  const Shape shape = problem.d_shape();
  GemmOptions gemm_options;
  gemm_options.threads = context.threads;
  gemm_options.promote = promotes(options);
  gemm_options.core = with_fraction_bits(static_cast<int>(options.fraction_bits));
  std::optional<Progress> progress;
  gemm_options.progress = [&](std::int64_t done, std::int64_t total) {
    if (!progress) progress.emplace("gemm", total);
    progress->update(done);
  };

  need_writable(options.out, {options.problem});
  std::vector<std::byte> d(static_cast<std::size_t>(element_count(shape)) * dtype_size(type));
  try {
    gemm(problem, type, d, gemm_options);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", options.problem, error.what()));
  }
  progress.reset();
  const Tensor result{"d", type, shape, d};
  write_tensor_file(options.out, {&result, 1},
                    options.out.ends_with(".npy") ? Metadata{} : result_metadata(context, options, problem));

  context.text =
      fmt::format("{}: d {} {} of a {} problem, M = {}, N = {}, K = {}, {} group{}, engine {}\n", options.out,
                  dtype_name(type), shape_text(shape), kind_name(problem.kind), problem.m, problem.n,
                  problem.k, problem.groups, problem.groups == 1 ? "" : "s", options.engine);
  context.answer = {{"output", options.out},
                    {"dtype", dtype_name(type)},
                    {"shape", shape},
                    {"kind", kind_name(problem.kind)},
                    {"m", problem.m},
                    {"n", problem.n},
                    {"k", problem.k},
                    {"groups", problem.groups},
                    {"engine", options.engine},
                    {"promote", problem.kind == Kind::wgmma ? Json(nullptr) : Json(options.promote)},
                    {"fraction_bits", options.fraction_bits}};
}

}  // namespace fp8twin::cli
