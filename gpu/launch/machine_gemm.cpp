#include "gpu/launch/machine_gemm.hpp"

#include "gpu/kernels/find_groups.hpp"
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

/// Contiguous groups: their table, and their padding rows of d.
void find_groups_on_machine(const LaunchPlan& plan, const GemmOperands& operands, ArrangedOperands& data,
                            machine::LaunchOptions launch) {
  machine::GlobalMemory memory;
  memory.add("groups", data.group_words.data(), 4 * data.group_words.size(), Access::read);
  memory.add("group_table", data.group_table.data(), 4 * data.group_table.size(), Access::write);
  memory.add("d", data.d.data(), data.d.size(), Access::write);
  launch.memory = &memory;
  launch.progress = {};
  machine::launch(
      {(plan.m + 127) / 128, 1}, {1, 1}, 128, 0,
      [](const FindGroupsArguments& a) { find_groups(MachineConfig{}, a); },
      find_groups_arguments(plan, operands.by_ends, data.group_words.data(), data.group_table.data(),
                            data.d.data()),
      launch);
}

}  // namespace

MachineGemmResult run_on_machine(const LaunchPlan& plan, const GemmOperands& operands,
                                 const MachineGemmOptions& options) {
  const TraceArguments& trace = options.trace;
  check_operands(plan, operands, trace);
  MachineGemmResult result;
  if (plan.config.trace) result.trace.resize(plan.trace(trace.group).words());
  ArrangedOperands data = arranged(plan, operands);
  if (plan.m > 0 && plan.n > 0 && plan.is(Grouping::contiguous)) {
    find_groups_on_machine(plan, operands, data, options.launch);
  }
  if (plan.grid_x == 0) {
    result.d = result_of(plan, operands, data.d);
    return result;
  }

  const bool adds_to_d = plan.config.form.accumulate && plan.config.output_f32;
  machine::GlobalMemory memory;
  memory.add("a", data.a.data(), data.a.size(), Access::read);
  memory.add("b", data.b.data(), data.b.size(), Access::read);
  memory.add("a_scale", data.a_scale.data(), 4 * data.a_scale.size(), Access::read);
  memory.add("b_scale", data.b_scale.data(), 4 * data.b_scale.size(), Access::read);
  memory.add("c", data.c.data(), 4 * data.c.size(), Access::read);
  memory.add("group_table", data.group_table.data(), 4 * data.group_table.size(), Access::read);
  memory.add("d", data.d.data(), data.d.size(), adds_to_d ? Access::read_write : Access::write);
  memory.add("trace", result.trace.data(), 4 * result.trace.size(), Access::write);

  TraceArguments followed = trace;
  followed.words = result.trace.data();
  const TmaGemmArguments arguments =
      tma_arguments_of(plan,
                       {data.a.data(), data.a_scale.data(), data.b.data(), data.b_scale.data(), data.d.data(),
                        data.c.data(), data.group_table.data()},
                       followed, machine::encode_tensor_map);

  machine::LaunchOptions launch = options.launch;
  launch.memory = &memory;
  result.report = launch_step(plan, arguments, launch);
  result.d = result_of(plan, operands, data.d);
  return result;
}

}  // namespace fp8twin
