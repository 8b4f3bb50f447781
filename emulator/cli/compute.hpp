// The main job as `gemm` and `wgmma` share it: a checked problem, an engine, one tensor `d` in a file, and a trace in
// another where one is asked for.
#pragma once

#include <string>

#include "emulator/cli/command.hpp"
#include "emulator/cli/job.hpp"
#include "emulator/cli/kernel_options.hpp"
#include "emulator/model/problem.hpp"

namespace fp8twin::cli {

struct ComputeOptions : JobOptions {
  std::string engine = "model";
  KernelOptions kernel;
  std::string trace, trace_tile;
};

/// Declares the operands' file (called `input`), -o, --engine, --fraction-bits, --simd and the machine's schedule.
void add_compute_options(CLI::App* command, ComputeOptions& options, const std::string& input);

/// Throws Error, in the words of the option parser, unless `input` and -o were given. (Some options of gemm need
/// neither, so the parser cannot.)
void need_files(const std::string& command, const std::string& input, const ComputeOptions& options);

/// Throws Error unless the engine exists and reads the options that were given.
void need_engine(const ComputeOptions& options);

/// Computes d, writes it to options.out and reports.
void compute(Context& context, const ComputeOptions& options, const Problem& problem);

}  // namespace fp8twin::cli
