// Runs a planned GEMM on the card: upload, tensor maps, launch, download. The twin of machine_gemm.hpp.
#pragma once

#include <optional>

#include "gpu/launch/gemm_data.hpp"
#include "gpu/launch/kernel_cache.hpp"

namespace fp8twin {

/// A kernel's argument: pointers, extents, and the tensor maps that its step takes.
TmaGemmArguments card_arguments(const LaunchPlan& plan, const LaunchPointers& operands,
                                const TraceArguments& trace = {});

/// The plan with no more blocks than the card holds at a time: of clusters, fewer than its multiprocessors would allow. A
/// persistent kernel's surplus blocks would begin when the others end.
LaunchPlan resident(LaunchPlan plan, const Kernel& kernel);

/// Launches `kernel`, which is the plan's; does not wait. With `overlap` it may begin under the end of the launch before it.
void launch_on_card(const Kernel& kernel, const LaunchPlan& plan, const TmaGemmArguments& arguments,
                    bool overlap = false);

/// Contiguous groups: launches find_groups in front of the kernel; does not wait.
void find_groups_on_card(const Kernel& kernel, const LaunchPlan& plan, const FindGroupsArguments& arguments);

struct CardGemmOptions {
  TraceArguments trace = {};  // the tile of D, along M and along N, and its group
};

/// A planned problem on the card; `operands` stay the caller's, and alive. Needs a Device made before it. Where D = c + product
/// is FP32, a second launch would add once more.
class CardGemm {
 public:
  CardGemm(const LaunchPlan& plan, const GemmOperands& operands, const CardGemmOptions& options = {});

  /// Launches the kernel; does not wait. The first time takes it from `kernels`, where it may have to be compiled.
  void launch(KernelCache& kernels);
  /// Waits, and brings D and the trace back.
  GemmResult result() const;
  /// What the kernel is given: where the arrays lie.
  const TmaGemmArguments& arguments() const { return arguments_; }
  /// D on the card: rows of plan.d_stride elements.
  const Buffer<u8>& d() const { return d_; }

 private:
  CardGemm(const LaunchPlan& plan, const GemmOperands& operands, const CardGemmOptions& options,
           const ArrangedOperands& data);

  LaunchPlan plan_;
  GemmOperands operands_;  // the caller's
  Buffer<u8> a_, b_, d_;
  Buffer<float> a_scale_, b_scale_, c_;
  Buffer<u32> group_words_, group_table_, trace_;
  TmaGemmArguments arguments_ = {};
  FindGroupsArguments find_groups_ = {};
  std::optional<Kernel> kernel_, finder_;
};

/// All of it at once.
GemmResult run_on_card(KernelCache& kernels, const LaunchPlan& plan, const GemmOperands& operands,
                       const CardGemmOptions& options = {});

}  // namespace fp8twin
