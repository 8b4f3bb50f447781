// The main job as `gemm` and `wgmma` share it: a checked problem, an engine, one tensor `d` in a file.
//
// Engines: model (arithmetic, here). machine (the kernel on the emulated SM90) and gpu (on the card) are planned and refused
// with a sentence until they exist; all three are to give the same bits.
#pragma once

#include <string>

#include "emulator/cli/command.hpp"
#include "emulator/model/problem.hpp"
#include "emulator/number/tensor_core.hpp"

namespace fp8twin::cli {

struct EngineOptions {
  std::string problem, out, trace;
  std::string engine = "model";
  std::string output;           // "bf16", "f32", or "" for the kind's default
  std::string promote = "128";  // or "none"
  std::int64_t fraction_bits = sm90.fraction_bits;
};

/// Declares PROBLEM (called `input` in the help), -o, --engine and --fraction-bits.
void add_engine_options(CLI::App* command, EngineOptions& options, const std::string& input);

/// Throws Error unless the engine exists.
void need_engine(const EngineOptions& options);

/// Computes d, writes it to options.out and reports.
void compute(Context& context, const EngineOptions& options, const Problem& problem);

}  // namespace fp8twin::cli
