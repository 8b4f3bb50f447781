#include "emulator/engine/quantize_engine.hpp"

#include "emulator/engine/engine.hpp"
#include "gpu/launch/machine_quantize.hpp"

namespace fp8twin {
namespace {

class ModelQuantizeEngine : public QuantizeEngine {
 public:
  explicit ModelQuantizeEngine(Simd simd) : simd_(simd) {}
  std::string_view name() const override { return "model"; }
  bool runs_kernels() const override { return false; }
  void quantize(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x,
                std::span<std::uint8_t> codes, std::span<float> scales, int threads) override {
    fp8twin::quantize(recipe, format, grid, x, codes, scales, threads, simd_);
  }

 private:
  Simd simd_;
};

class MachineQuantizeEngine : public QuantizeEngine {
 public:
  std::string_view name() const override { return "machine"; }
  void quantize(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x,
                std::span<std::uint8_t> codes, std::span<float> scales, int threads) override {
    quantize_on_machine(recipe, format, grid, x, codes, scales, {.threads = threads});
  }
};

}  // namespace

std::unique_ptr<QuantizeEngine> make_quantize_engine(std::string_view name, Simd simd) {
  if (name == "model") return std::make_unique<ModelQuantizeEngine>(simd);
  if (name == "machine") return std::make_unique<MachineQuantizeEngine>();
  need_engine_name("engine", name);
  return make_gpu_quantize_engine();
}

}  // namespace fp8twin
