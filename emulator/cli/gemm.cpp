// `gemm`: the main job, for every kind of problem.
#include <fmt/core.h>

#include <memory>

#include "emulator/cli/command.hpp"
#include "emulator/cli/engine.hpp"

namespace fp8twin::cli {

void add_gemm(CLI::App& app, Context& context) {
  const auto options = std::make_shared<EngineOptions>();
  CLI::App* command = add_command(app, context, "gemm",
                                  "Computes d of a problem file, with the bits of Hopper's tensor core.",
                                  "fp8twin gemm p.safetensors -o d.safetensors\n"
                                  "  fp8twin gemm p.safetensors -o d.npy --output f32 --fraction-bits 25");
  add_engine_options(command, *options, "PROBLEM");
  command
      ->add_option("--output", options->output,
                   "bf16 or f32 (default bf16; f32 for 1d1d, k-grouped and wgmma)")
      ->type_name("TYPE");
  command
      ->add_option("--promote", options->promote,
                   "128 (default): an FP32 sum of K blocks; none: one chain over all of K, for scales "
                   "constant along K")
      ->type_name("128|none");
  command->add_option("--trace", options->trace, "not in this version: the steps of machine and gpu")
      ->type_name("FILE");
  command->callback([&context, options] {
    need_engine(*options);
    if (!options->trace.empty()) {
      throw Error(
          "--trace: engine model has no steps to trace, and this version has no other engine; leave it out");
    }
    compute(context, *options, read_problem(read_tensor_file(options->problem)));
  });
}

}  // namespace fp8twin::cli
