// Engine gpu: the kernels' source on the card, compiled by NVRTC at first use.
#include <cstring>
#include <map>

#include "emulator/engine/engines.hpp"
#include "emulator/engine/launchable.hpp"
#include "emulator/engine/wgmma_chunks.hpp"
#include "gpu/launch/card_gemm.hpp"
#include "gpu/launch/card_wgmma.hpp"

namespace fp8twin {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(sizeof(T) * values.size());
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class GpuEngine : public Engine {
 public:
  std::string_view name() const override { return "gpu"; }
  std::string device() const override { return device_.name(); }
  std::string driver() const override { return device_.driver_version(); }
  std::uint32_t multiprocessors() const override {
    return static_cast<std::uint32_t>(device_.multiprocessors());
  }

  void prepare(std::span<const GemmConfig> configs, int threads) override {
    std::map<std::string, jit::Source> by_name;  // each once
    for (const GemmConfig& config : configs) by_name.try_emplace(config.name(), jit::gemm_source(config));
    std::vector<jit::Source> sources;
    for (const auto& [name, source] : by_name) sources.push_back(source);
    kernels_.prepare(sources, threads);
  }

 private:
  RunResult compute(const Problem& problem, DType output, const RunOptions& options) override {
    return problem.kind == Kind::wgmma ? wgmma(problem) : ladder(problem, output, options);
  }

  RunResult ladder(const Problem& problem, DType output, const RunOptions& options) {
    GemmConfig config = options.config;
    config.output_f32 = output == DType::f32;
    const LaunchPlan plan = plan_gemm(product_of(problem), config,
                                      options.multiprocessors ? options.multiprocessors : multiprocessors());
    GemmResult result = run_on_card(kernels_, plan, operands_of(problem), {trace_arguments(options)});
    return {bytes_of(result.d), std::move(result.trace), {}};
  }

  /// Eight k32 steps a launch: one kernel serves a chain of any length, and a second its end.
  RunResult wgmma(const Problem& problem) {
    const std::vector<float> d =
        run_in_chunks(problem, 8, [&](const WgmmaChunk& chunk, const std::vector<float>& c) {
          const jit::ChainConfig config{.n = static_cast<int>(chunk.n),
                                        .k_steps = static_cast<int>(chunk.k_steps)};
          return run_wgmma_chain(kernels_, config, chunk.a, chunk.b, c, chunk.scale_d);
        });
    return {bytes_of(d), {}, {}};
  }

  Device device_;
  KernelCache kernels_;
};

}  // namespace

std::unique_ptr<Engine> make_gpu_engine() { return std::make_unique<GpuEngine>(); }

std::string dump_ptx(const GemmConfig& config) { return jit::dump_ptx(jit::gemm_source(config)); }

}  // namespace fp8twin
