// `gemm`: the main job, for every kind of problem, on the model, the machine or the card.
#include <fmt/core.h>

#include <memory>

#include "emulator/cli/command.hpp"
#include "emulator/cli/compute.hpp"
#include "emulator/engine/launchable.hpp"
#include "emulator/files/atomic_file.hpp"

namespace fp8twin::cli {
namespace {

struct GemmOptions : ComputeOptions {
  bool list_configs = false;
  std::string dump_ptx;  // "-": stdout
};

/// Without a problem the configuration is that for a D that fills the card.
void run_dump_ptx(Context& context, const GemmOptions& options) {
  Product product{.form = {}, .m = 4096, .n = 4096, .k = 4096};
  DType type = DType::bf16;
  if (!options.problem.empty()) {
    const Problem problem = read_problem(read_tensor_file(options.problem));
    product = product_of(problem);
    type = problem.default_output();
  }
  GemmConfig config =
      config_for(options.kernel, product, output_type(options, type) == DType::f32, h200_multiprocessors);
  config.trace = !options.trace.empty();
  const std::string ptx = dump_ptx(config);
  context.answer = {{"kernel", config.name()}};
  if (options.dump_ptx == "-") {
    context.text = ptx;
    context.answer["ptx"] = ptx;
    return;
  }
  need_writable(options.dump_ptx, {options.problem});
  AtomicFile file(options.dump_ptx);
  file.write(std::as_bytes(std::span(ptx)));
  file.commit();
  context.text = fmt::format("{}: the PTX of {}\n", options.dump_ptx, config.name());
  context.answer["output"] = options.dump_ptx;
}

void run_gemm(Context& context, const GemmOptions& options) {
  if (options.list_configs) return list_configs(context, options.kernel);
  if (!options.dump_ptx.empty()) return run_dump_ptx(context, options);
  need_files("gemm", "PROBLEM", options);
  need_engine(options);
  const Problem problem = read_problem(read_tensor_file(options.problem));
  if (options.engine != "model" && problem.kind == Kind::wgmma) {
    throw Error(
        fmt::format("{}: is a wgmma problem; needed is fp8twin wgmma, or --engine model", options.problem));
  }
  compute(context, options, problem);
}

}  // namespace

void add_gemm(CLI::App& app, Context& context) {
  const auto options = std::make_shared<GemmOptions>();
  CLI::App* command = add_command(
      app, context, "gemm", "Computes d of a problem file, with the bits of Hopper's tensor core.",
      "fp8twin gemm p.safetensors -o d.safetensors\n"
      "  fp8twin gemm p.safetensors -o d.npy --output f32 --fraction-bits 25\n"
      "  fp8twin gemm p.safetensors -o d.npy --engine machine --tile 128x64 --trace "
      "t.safetensors\n"
      "  fp8twin gemm --list-configs --kernel 7");
  add_compute_options(command, *options, "PROBLEM");
  add_result_options(command, *options);
  add_kernel_options(command, options->kernel);
  command
      ->add_option(
          "--trace", options->trace,
          "machine, gpu: also write what each step of one tile left behind; fp8twin diff compares two")
      ->type_name("FILE");
  command
      ->add_option("--trace-tile", options->trace_tile,
                   "which tile of D, counted along M and along N (default 0,0), of grouped problems g,m,n: "
                   "of group g; step 9's "
                   "have --tile's N rows and M columns")
      ->type_name("m,n");
  command->add_flag(
      "--list-configs", options->list_configs,
      "print the configurations offered (with --kernel: of one step) and leave; more are accepted");
  command->add_flag("--dump-ptx{-}", options->dump_ptx,
                    "print the kernel's PTX and leave; --dump-ptx=FILE writes it (needs NVRTC, no card)");
  command->callback([&context, options] { run_gemm(context, *options); });
}

}  // namespace fp8twin::cli
