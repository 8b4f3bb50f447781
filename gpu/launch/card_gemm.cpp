#include "gpu/launch/card_gemm.hpp"

#include <algorithm>

#include "gpu/jit/kernels.hpp"
#include "gpu/launch/tensor_map.hpp"

namespace fp8twin {

TmaGemmArguments card_arguments(const LaunchPlan& plan, const LaunchPointers& operands,
                                const TraceArguments& trace) {
  return tma_arguments_of(plan, operands, trace, [](const TensorMapDescription& description) {
    return encode_tensor_map(description);
  });
}

LaunchPlan resident(LaunchPlan plan, const Kernel& kernel) {
  if (plan.config.step < 5 || plan.cluster == 1 || plan.grid_x == 0) return plan;
  const u32 clusters = kernel.most_resident_clusters({plan.grid_x, plan.grid_y, plan.cluster}, plan.threads,
                                                     plan.shared_bytes);
  if (clusters > 0) plan.grid_x = std::min(plan.grid_x, clusters * plan.cluster);
  return plan;
}

void launch_on_card(const Kernel& kernel, const LaunchPlan& plan, const TmaGemmArguments& arguments,
                    bool overlap) {
  if (plan.grid_x == 0) return;
  const Grid grid{plan.grid_x, plan.grid_y, plan.cluster, overlap};
  if (plan.config.step == 1) {
    kernel.launch(grid, plan.threads, plan.shared_bytes, arguments.gemm);
  } else {
    kernel.launch(grid, plan.threads, plan.shared_bytes, arguments);
  }
}

void find_groups_on_card(const Kernel& kernel, const LaunchPlan& plan, const FindGroupsArguments& arguments) {
  if (plan.m > 0 && plan.n > 0) kernel.launch({(plan.m + 127) / 128, 1, 1, false}, 128, 0, arguments);
}

CardGemm::CardGemm(const LaunchPlan& plan, const GemmOperands& operands, const CardGemmOptions& options)
    : CardGemm(plan, operands, options,
               (check_operands(plan, operands, options.trace), arranged(plan, operands))) {}

CardGemm::CardGemm(const LaunchPlan& plan, const GemmOperands& operands, const CardGemmOptions& options,
                   const ArrangedOperands& data)
    : plan_(plan),
      operands_(operands),
      a_(data.a),
      b_(data.b),
      d_(data.d),
      a_scale_(data.a_scale),
      b_scale_(data.b_scale),
      c_(data.c),
      group_words_(data.group_words),
      group_table_(data.group_table),
      trace_(plan.config.trace ? plan.trace(options.trace.group).words() : 0) {
  trace_.fill(0);
  TraceArguments trace = options.trace;
  trace.words = trace_.device();
  arguments_ = card_arguments(plan_,
                              {a_.device(), a_scale_.device(), b_.device(), b_scale_.device(), d_.device(),
                               c_.device(), group_table_.device()},
                              trace);
  if (plan_.is(Grouping::contiguous)) {
    find_groups_ = find_groups_arguments(plan_, operands.by_ends, group_words_.device(),
                                         group_table_.device(), d_.device());
  }
}

void CardGemm::launch(KernelCache& kernels) {
  if (plan_.is(Grouping::contiguous)) {
    if (!finder_) finder_ = kernels.get(jit::find_groups_source(), jit::find_groups_name);
    find_groups_on_card(*finder_, plan_, find_groups_);
  }
  if (plan_.grid_x == 0) return;
  if (!kernel_) {
    kernel_ = kernels.get(jit::gemm_source(plan_.config), plan_.config.name());
    plan_ = resident(plan_, *kernel_);
  }
  launch_on_card(*kernel_, plan_, arguments_);
}

GemmResult CardGemm::result() const {
  return {result_of(plan_, operands_, d_.download()), trace_.download()};
}

GemmResult run_on_card(KernelCache& kernels, const LaunchPlan& plan, const GemmOperands& operands,
                       const CardGemmOptions& options) {
  CardGemm gemm(plan, operands, options);
  gemm.launch(kernels);
  return gemm.result();
}

}  // namespace fp8twin
