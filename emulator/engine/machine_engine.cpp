// Engine machine: the kernels' source on the emulated SM90.
#include <cstring>

#include "emulator/engine/engines.hpp"
#include "emulator/engine/launchable.hpp"
#include "emulator/engine/wgmma_chunks.hpp"
#include "gpu/kernels/arguments.hpp"
#include "gpu/launch/machine_gemm.hpp"
#include "gpu/launch/machine_wgmma.hpp"

namespace fp8twin {
namespace {

machine::LaunchOptions launch_options(const RunOptions& options) {
  return {.schedule = options.schedule,
          .seed = options.schedule_seed,
          .checks = options.checks,
          .threads = options.threads,
          .progress = options.progress};
}

class MachineEngine : public Engine {
 public:
  std::string_view name() const override { return "machine"; }

 private:
  RunResult compute(const Problem& problem, DType output, const RunOptions& options) override {
    return problem.kind == Kind::wgmma ? wgmma(problem, options) : ladder(problem, output, options);
  }

  RunResult ladder(const Problem& problem, DType output, const RunOptions& options) {
    GemmConfig config = options.config;
    config.output_f32 = output == DType::f32;
    const LaunchPlan plan = plan_gemm(product_of(problem), config,
                                      options.multiprocessors ? options.multiprocessors : multiprocessors());
    MachineGemmResult result =
        run_on_machine(plan, operands_of(problem), {launch_options(options), trace_arguments(options)});
    RunResult run;
    run.d.resize(result.d.size());
    if (!result.d.empty()) std::memcpy(run.d.data(), result.d.data(), result.d.size());
    run.trace = std::move(result.trace);
    run.bank_notes = std::move(result.report.bank_notes);
    return run;
  }

  RunResult wgmma(const Problem& problem, const RunOptions& options) {
    const std::int64_t most_steps =
        most_shared_bytes / wgmma_chain_shared_bytes(static_cast<u32>(problem.n), 1);
    const std::vector<float> d =
        run_in_chunks(problem, most_steps, [&](const WgmmaChunk& chunk, const std::vector<float>& c) {
          return run_wgmma_chain_on_machine({.n = chunk.n, .k_steps = chunk.k_steps}, chunk.a, chunk.b, c,
                                            chunk.scale_d, launch_options(options));
        });
    RunResult run;
    run.d.resize(4 * d.size());
    std::memcpy(run.d.data(), d.data(), run.d.size());
    return run;
  }
};

}  // namespace

std::unique_ptr<Engine> make_machine_engine() { return std::make_unique<MachineEngine>(); }

}  // namespace fp8twin
