#include "gpu/launch/card_gemm.hpp"

#include "gpu/jit/kernels.hpp"
#include "gpu/launch/tensor_map.hpp"

namespace fp8twin {
namespace {

TensorMap encoded(TensorMapDescription description, const void* base) {
  description.base = reinterpret_cast<u64>(base);
  return encode_tensor_map(description);
}

}  // namespace

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
  arguments_.gemm =
      arguments_of(plan_, a_.device(), a_scale_.device(), b_.device(), b_scale_.device(), d_.device(),
                   {trace_.device(), options_.trace_tile_m, options_.trace_tile_n});
  if (plan_.config.step > 1) {
    arguments_.a = encoded(plan_.a, plan_.config.swapped() ? b_.device() : a_.device());
    arguments_.b = encoded(plan_.b, plan_.config.swapped() ? a_.device() : b_.device());
  }
  if (plan_.config.stores_by_tma()) arguments_.d = encoded(plan_.d, d_.device());
  if (plan_.config.loads_scales_by_tma()) arguments_.a_scale = encoded(plan_.a_scale, a_scale_.device());
}

void CardGemm::launch(KernelCache& kernels) const {
  if (plan_.grid_x == 0) return;
  const Kernel kernel = kernels.get(jit::gemm_source(plan_.config), plan_.config.name());
  const Grid grid{plan_.grid_x, plan_.grid_y, plan_.cluster};
  if (plan_.config.step == 1) {
    kernel.launch(grid, plan_.threads, plan_.shared_bytes, arguments_.gemm);
  } else {
    kernel.launch(grid, plan_.threads, plan_.shared_bytes, arguments_);
  }
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
  const CardGemm gemm(plan, operands, options);
  gemm.launch(kernels);
  return gemm.result();
}

}  // namespace fp8twin
