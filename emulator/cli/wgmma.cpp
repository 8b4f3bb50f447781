// `wgmma`: one m64nNk32 instruction, or a chain of them along K, without scales.
#include <fmt/core.h>

#include <memory>

#include "emulator/cli/command.hpp"
#include "emulator/cli/compute.hpp"

namespace fp8twin::cli {

void add_wgmma(CLI::App& app, Context& context) {
  const auto options = std::make_shared<ComputeOptions>();
  CLI::App* command =
      add_command(app, context, "wgmma",
                  "Computes d = a b (+ c) as one wgmma instruction, or a chain of them along K, in binary32.",
                  "fp8twin random w.safetensors --kind wgmma --n 256 --k 128 --with-c && fp8twin wgmma "
                  "w.safetensors -o d.npy\n"
                  "  fp8twin wgmma w.safetensors -o d.npy --engine machine --schedule latest");
  add_compute_options(command, *options, "IN");
  command->callback([&context, options] {
    need_files("wgmma", "IN", *options);
    need_engine(*options);
    const Problem problem = read_problem(read_tensor_file(options->problem));
    if (problem.kind != Kind::wgmma) {
      throw Error(fmt::format(
          "{}: is a {} problem; wgmma needs one without scales (use fp8twin gemm, or random --kind wgmma)",
          options->problem, kind_name(problem.kind)));
    }
    compute(context, *options, problem);
  });
}

}  // namespace fp8twin::cli
