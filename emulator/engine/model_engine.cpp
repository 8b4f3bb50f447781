// Engine model: emulator/model, which takes every kind of problem.
#include "emulator/engine/engines.hpp"

namespace fp8twin {
namespace {

class ModelEngine : public Engine {
 public:
  std::string_view name() const override { return "model"; }
  bool runs_kernels() const override { return false; }

 private:
  RunResult compute(const Problem& problem, DType output, const RunOptions& options) override {
    RunResult result;
    result.d.resize(static_cast<std::size_t>(element_count(problem.d_shape())) * dtype_size(output));
    gemm(problem, output, result.d,
         {.threads = options.threads,
          .promote = options.promote,
          .core = options.core,
          .simd = options.simd,
          .progress = options.progress});
    return result;
  }
};

}  // namespace

std::unique_ptr<Engine> make_model_engine() { return std::make_unique<ModelEngine>(); }

}  // namespace fp8twin
