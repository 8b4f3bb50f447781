#include "gpu/launch/machine_gemm.hpp"

#include "gpu/kernels/gemm_1_one_tile.hpp"
#include "gpu/kernels/gemm_2_tma.hpp"
#include "gpu/kernels/gemm_3_stages.hpp"
#include "gpu/kernels/gemm_4_specialised.hpp"
#include "gpu/kernels/gemm_5_persistent.hpp"
#include "gpu/kernels/gemm_6_multicast.hpp"
#include "gpu/kernels/gemm_7_full.hpp"
#include "gpu/kernels/gemm_8_overlapped.hpp"
#include "gpu/kernels/gemm_9_swapped.hpp"

namespace fp8twin {
namespace {

using Access = machine::GlobalMemory::Access;

TensorMap encoded(TensorMapDescription description, const void* base) {
  description.base = reinterpret_cast<u64>(base);
  return machine::encode_tensor_map(description);
}

/// One instantiation of each kernel serves all its configurations.
machine::LaunchReport launch_step(const LaunchPlan& plan, const TmaGemmArguments& arguments,
                                  const machine::LaunchOptions& options) {
  const MachineConfig config = plan.config.machine();
  const auto launch = [&](const auto& kernel, const auto& argument) {
    return machine::launch({plan.grid_x, plan.grid_y}, {plan.cluster, 1}, plan.threads, plan.shared_bytes,
                           kernel, argument, options);
  };
  using Tma = TmaGemmArguments;
  switch (plan.config.step) {
    case 1:
      return launch([&](const GemmArguments& g) { gemm_1_one_tile(config, g); }, arguments.gemm);
    case 2:
      return launch([&](const Tma& g) { gemm_2_tma(config, g); }, arguments);
    case 3:
      return launch([&](const Tma& g) { gemm_3_stages(config, g); }, arguments);
    case 4:
      return launch([&](const Tma& g) { gemm_4_specialised(config, g); }, arguments);
    case 5:
      return launch([&](const Tma& g) { gemm_5_persistent(config, g); }, arguments);
    case 6:
      return launch([&](const Tma& g) { gemm_6_multicast(config, g); }, arguments);
    case 7:
      return launch([&](const Tma& g) { gemm_7_full(config, g); }, arguments);
    case 8:
      return launch([&](const Tma& g) { gemm_8_overlapped(config, g); }, arguments);
    default:
      return launch([&](const Tma& g) { gemm_9_swapped(config, g); }, arguments);
  }
}

}  // namespace

MachineGemmResult run_on_machine(const LaunchPlan& plan, const GemmOperands& operands,
                                 const MachineGemmOptions& options) {
  check_operands(plan, operands, options.trace_tile_m, options.trace_tile_n);
  MachineGemmResult result;
  if (plan.config.trace) result.trace.resize(plan.trace().words());
  if (plan.grid_x == 0) return result;

  const std::vector<u8> a = padded_rows(operands.a, plan.m, plan.k, plan.a_stride);
  const std::vector<u8> b = padded_rows(operands.b, plan.n, plan.k, plan.b_stride);
  std::vector<u8> d(plan.d_bytes(), 0xff);  // a NaN in either format: an element never stored is seen
  machine::GlobalMemory memory;
  memory.add("a", a.data(), a.size(), Access::read);
  memory.add("b", b.data(), b.size(), Access::read);
  const std::vector<float> a_scale = arranged_scales(plan, operands.a_scale);
  memory.add("a_scale", a_scale.data(), 4 * a_scale.size(), Access::read);
  memory.add("b_scale", operands.b_scale.data(), operands.b_scale.size_bytes(), Access::read);
  memory.add("d", d.data(), d.size(), Access::write);
  memory.add("trace", result.trace.data(), 4 * result.trace.size(), Access::write);

  TmaGemmArguments arguments = {};
  arguments.gemm = arguments_of(plan, a.data(), a_scale.data(), b.data(), operands.b_scale.data(), d.data(),
                                {result.trace.data(), options.trace_tile_m, options.trace_tile_n});
  if (plan.config.step > 1) {
    arguments.a = encoded(plan.a, plan.config.swapped() ? b.data() : a.data());
    arguments.b = encoded(plan.b, plan.config.swapped() ? a.data() : b.data());
  }
  if (plan.config.stores_by_tma()) arguments.d = encoded(plan.d, d.data());
  if (plan.config.loads_scales_by_tma()) arguments.a_scale = encoded(plan.a_scale, a_scale.data());

  machine::LaunchOptions launch = options.launch;
  launch.memory = &memory;
  result.report = launch_step(plan, arguments, launch);
  const u64 element = plan.config.output_f32 ? 4 : 2;
  result.d = cropped_rows(d, plan.m, plan.n * element, plan.d_stride * element);
  return result;
}

}  // namespace fp8twin
