#include "gpu/launch/card_gemm.hpp"

#include <algorithm>

#include "gpu/jit/kernels.hpp"
#include "gpu/launch/tensor_map.hpp"

namespace fp8twin {
namespace {

TensorMap encoded(TensorMapDescription description, const void* base) {
  description.base = reinterpret_cast<u64>(base);
  return encode_tensor_map(description);
}

}  // namespace

TmaGemmArguments card_arguments(const LaunchPlan& plan, const CardOperands& operands,
                                const TraceArguments& trace) {
  const auto& [a, a_scale, b, b_scale, d] = operands;
  TmaGemmArguments arguments = {};
  arguments.gemm = arguments_of(plan, a, a_scale, b, b_scale, d, trace);
  if (plan.config.step > 1) {
    arguments.a = encoded(plan.a, plan.config.swapped() ? b : a);
    arguments.b = encoded(plan.b, plan.config.swapped() ? a : b);
  }
  if (plan.config.stores_by_tma()) arguments.d = encoded(plan.d, d);
  if (plan.config.loads_scales_by_tma()) arguments.a_scale = encoded(plan.a_scale, a_scale);
  return arguments;
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

CardGemm::CardGemm(const LaunchPlan& plan, const GemmOperands& operands, const CardGemmOptions& options)
    : plan_(plan),
      options_(options),
      a_((check_operands(plan, operands, options.trace_tile_m, options.trace_tile_n),
          padded_rows(operands.a, plan.m, plan.k, plan.a_stride))),
      b_(padded_rows(operands.b, plan.n, plan.k, plan.b_stride)),
      d_(plan.d_bytes()),
      a_scale_(arranged_scales(plan, operands.a_scale)),
      b_scale_(operands.b_scale),
      trace_(plan.config.trace ? plan.trace().words() : 0) {
  d_.fill(0xff);  // a NaN in either format: an element never stored is seen
  trace_.fill(0);
  arguments_ =
      card_arguments(plan_, {a_.device(), a_scale_.device(), b_.device(), b_scale_.device(), d_.device()},
                     {trace_.device(), options_.trace_tile_m, options_.trace_tile_n});
}

void CardGemm::launch(KernelCache& kernels) {
  if (plan_.grid_x == 0) return;
  if (!kernel_) {
    kernel_ = kernels.get(jit::gemm_source(plan_.config), plan_.config.name());
    plan_ = resident(plan_, *kernel_);
  }
  launch_on_card(*kernel_, plan_, arguments_);
}

GemmResult CardGemm::result() const {
  const u64 element = plan_.config.output_f32 ? 4 : 2;
  GemmResult result;
  result.d = cropped_rows(d_.download(), plan_.m, plan_.n * element, plan_.d_stride * element);
  result.trace = trace_.download();
  return result;
}

GemmResult run_on_card(KernelCache& kernels, const LaunchPlan& plan, const GemmOperands& operands,
                       const CardGemmOptions& options) {
  CardGemm gemm(plan, operands, options);
  gemm.launch(kernels);
  return gemm.result();
}

}  // namespace fp8twin
