// Runs a planned GEMM on the card: upload, tensor maps, launch, download. The twin of machine_gemm.hpp.
#pragma once

#include <optional>

#include "gpu/launch/gemm_data.hpp"
#include "gpu/launch/kernel_cache.hpp"

namespace fp8twin {

/// Where a problem lies on the card: a and b with the plan's strides, a_scale as arranged_scales() makes it.
struct CardOperands {
  const u8* a;
  const float* a_scale;
  const u8* b;
  const float* b_scale;
  void* d;
};

/// A kernel's argument: pointers, extents, and the tensor maps that its step takes.
TmaGemmArguments card_arguments(const LaunchPlan& plan, const CardOperands& operands,
                                const TraceArguments& trace = {});

/// The plan with no more blocks than the card holds at a time: of clusters, fewer than its multiprocessors would allow. A
/// persistent kernel's surplus blocks would begin when the others end.
LaunchPlan resident(LaunchPlan plan, const Kernel& kernel);

/// Launches `kernel`, which is the plan's; does not wait. With `overlap` it may begin under the end of the launch before it.
void launch_on_card(const Kernel& kernel, const LaunchPlan& plan, const TmaGemmArguments& arguments,
                    bool overlap = false);

struct CardGemmOptions {
  u32 trace_tile_m = 0, trace_tile_n = 0;  // of D, along M and along N
};

/// A planned problem on the card. Needs a Device made before it.
class CardGemm {
 public:
  CardGemm(const LaunchPlan& plan, const GemmOperands& operands, const CardGemmOptions& options = {});

  /// Launches the kernel; does not wait. The first time takes it from `kernels`, where it may have to be compiled.
  void launch(KernelCache& kernels);
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
  std::optional<Kernel> kernel_;
};

/// All of it at once.
GemmResult run_on_card(KernelCache& kernels, const LaunchPlan& plan, const GemmOperands& operands,
                       const CardGemmOptions& options = {});

}  // namespace fp8twin
