// Runs a planned GEMM on the emulated SM90: the kernel's own source, compiled for the CPU.
#pragma once

#include "emulator/machine/launch.hpp"
#include "gpu/launch/gemm_data.hpp"

namespace fp8twin {

struct MachineGemmOptions {
  machine::LaunchOptions launch = {};  // its memory is set here
  TraceArguments trace = {};           // the tile of D, along M and along N, and its group
};

struct MachineGemmResult : GemmResult {
  machine::LaunchReport report;
};

/// Throws machine::Fault for what the checkers find in the kernel, Error for operands that do not fit the plan.
MachineGemmResult run_on_machine(const LaunchPlan& plan, const GemmOperands& operands,
                                 const MachineGemmOptions& options = {});

}  // namespace fp8twin
