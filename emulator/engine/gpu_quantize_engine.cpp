// Engine gpu of `quantize`: the kernel's source on the card, compiled by NVRTC at first use.
#include "emulator/engine/quantize_engine.hpp"
#include "gpu/launch/card_quantize.hpp"

namespace fp8twin {
namespace {

class GpuQuantizeEngine : public QuantizeEngine {
 public:
  std::string_view name() const override { return "gpu"; }
  std::string device() const override { return device_.name(); }
  std::string driver() const override { return device_.driver_version(); }
  void quantize(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x,
                std::span<std::uint8_t> codes, std::span<float> scales, int) override {
    quantize_on_card(kernels_, recipe, format, grid, x, codes, scales);
  }

 private:
  Device device_;
  KernelCache kernels_;
};

}  // namespace

std::unique_ptr<QuantizeEngine> make_gpu_quantize_engine() { return std::make_unique<GpuQuantizeEngine>(); }

}  // namespace fp8twin
