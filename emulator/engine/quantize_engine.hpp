// Quantisation three ways to the same bits, as engine.hpp has the GEMM.
//
//   model     the loops of emulator/number                     machine, gpu   the kernel gpu/kernels/quantize.hpp
//
//   Recipe, ScaleFormat, BlockGrid, Values  ->  QuantizeEngine::quantize  ->  codes, scales
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "emulator/number/quantize.hpp"

namespace fp8twin {

class QuantizeEngine {
 public:
  virtual ~QuantizeEngine() = default;

  virtual std::string_view name() const = 0;
  virtual std::string device() const { return "cpu"; }
  virtual std::string driver() const { return "none"; }
  /// Is it a kernel that runs?
  virtual bool runs_kernels() const { return true; }

  /// As quantize() of emulator/number/quantize.hpp. Throws Error for what the engine does not take, machine::Fault for a
  /// kernel's mistake.
  virtual void quantize(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x,
                        std::span<std::uint8_t> codes, std::span<float> scales, int threads) = 0;
};

/// "model", "machine" or "gpu". `simd` is the model's. Throws Error for another name, and where there is no driver or no
/// card.
std::unique_ptr<QuantizeEngine> make_quantize_engine(std::string_view name, Simd simd = best_simd());

/// For make_quantize_engine(). Throws Error where there is no card, no driver, or no card's side in this build.
std::unique_ptr<QuantizeEngine> make_gpu_quantize_engine();

}  // namespace fp8twin
