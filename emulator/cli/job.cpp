#include "emulator/cli/job.hpp"

#include <fmt/core.h>

#include "emulator/cli/values.hpp"

namespace fp8twin::cli {

void add_job_files(CLI::App* command, JobOptions& options, const std::string& input) {
  command->add_option(input, options.problem, about_input);
  command->add_option("-o", options.out, about_output)->type_name("OUT");
}

void add_model_options(CLI::App* command, JobOptions& options) {
  add_integer(command, "--fraction-bits", options.fraction_bits,
              "model: what if the tensor core kept this many bits below 2^E (default 13, Hopper's)",
              min_fraction_bits, max_fraction_bits);
  options.simd_option = add_simd(command, options.simd);
}

void add_result_options(CLI::App* command, JobOptions& options) {
  command
      ->add_option("--output", options.output,
                   "bf16 or f32 (default bf16; f32 for 1d1d, k-grouped and wgmma)")
      ->type_name("TYPE");
  command
      ->add_option("--promote", options.promote,
                   "model: 128 (default), an FP32 sum of K blocks; none: one chain over all of K, for scales "
                   "constant along K")
      ->type_name("128|none");
}

DType output_type(const JobOptions& options, DType by_default) {
  if (options.output.empty()) return by_default;
  if (options.output == "bf16") return DType::bf16;
  if (options.output == "f32") return DType::f32;
  throw Error(fmt::format("--output: found '{}'; bf16 or f32 is needed", options.output));
}

bool promotes(const JobOptions& options) {
  if (options.promote == "128") return true;
  if (options.promote == "none") return false;
  throw Error(fmt::format("--promote: found '{}'; 128 (each K block, as the kernels do) or none is needed",
                          options.promote));
}

Metadata result_metadata(const Context& context, const JobOptions& options, const std::string& engine,
                         const Problem& problem) {
  Metadata metadata = provenance(context, engine);
  metadata["kind"] = kind_name(problem.kind);
  const auto seed =
      problem.file.metadata.find("seed");  // of the operands: what else is random has its own name
  if (seed != problem.file.metadata.end()) metadata["seed"] = seed->second;
  if (options.fraction_bits != sm90.fraction_bits)
    metadata["fraction_bits"] = std::to_string(options.fraction_bits);
  if (options.promote != "128") metadata["promote"] = options.promote;
  return metadata;
}

void report_result(Context& context, const JobOptions& options, const std::string& engine,
                   const Problem& problem, DType type) {
  const Shape shape = problem.d_shape();
  context.text =
      fmt::format("{}: d {} {} of a {} problem, M = {}, N = {}, K = {}, {} group{}, engine {}\n", options.out,
                  dtype_name(type), shape_text(shape), kind_name(problem.kind), problem.m, problem.n,
                  problem.k, problem.groups, problem.groups == 1 ? "" : "s", engine);
  context.answer = {{"output", options.out},
                    {"dtype", dtype_name(type)},
                    {"shape", shape},
                    {"kind", kind_name(problem.kind)},
                    {"m", problem.m},
                    {"n", problem.n},
                    {"k", problem.k},
                    {"groups", problem.groups},
                    {"engine", engine},
                    {"promote", problem.kind == Kind::wgmma ? Json(nullptr) : Json(options.promote)},
                    {"fraction_bits", options.fraction_bits}};
}

}  // namespace fp8twin::cli
