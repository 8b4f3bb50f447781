// Runs a planned GEMM on the card: upload, tensor maps, launch, download. The twin of machine_gemm.hpp.
#pragma once

#include "gpu/launch/gemm_data.hpp"
#include "gpu/launch/kernel_cache.hpp"

namespace fp8twin {

struct CardGemmOptions {
  u32 trace_tile_m = 0, trace_tile_n = 0;  // in tiles
};

/// A planned problem on the card. Needs a Device made before it.
class CardGemm {
 public:
  CardGemm(const LaunchPlan& plan, const GemmOperands& operands, const CardGemmOptions& options = {});

  /// Launches the kernel; does not wait.
  void launch(KernelCache& kernels) const;
  /// Waits, and brings D and the trace back.
  GemmResult result() const;
  /// D on the card: rows of plan.d_stride elements.
  const Buffer<u8>& d() const { return d_; }

 private:
  LaunchPlan plan_;
  CardGemmOptions options_;
  Buffer<u8> a_, b_, d_;
  Buffer<float> a_scale_, b_scale_;
  Buffer<u32> trace_;
  TmaGemmArguments arguments_ = {};
};

/// All of it at once.
GemmResult run_on_card(KernelCache& kernels, const LaunchPlan& plan, const GemmOperands& operands,
                       const CardGemmOptions& options = {});

}  // namespace fp8twin
