// The main job, told apart from who does it: which files, which output, which arithmetic, and what is said of the result.
//
//   fp8twin gemm, fp8twin wgmma     one process, any engine       emulator/cli/compute.hpp
//   fp8twin-mpi                     many processes, the model     emulator/mpi
//
// Both read the same words and write the same metadata, so that the same work gives the same bytes.
#pragma once

#include <string>

#include "emulator/cli/command.hpp"
#include "emulator/model/problem.hpp"
#include "emulator/number/tensor_core.hpp"
#include "emulator/support/simd.hpp"

namespace fp8twin::cli {

struct JobOptions {
  std::string problem, out;
  std::string output;           // "bf16", "f32", or "" for the kind's default
  std::string promote = "128";  // or "none"
  std::int64_t fraction_bits = sm90.fraction_bits;
  Simd simd = best_simd();
  const CLI::Option* simd_option = nullptr;  // whether it was given
};

inline constexpr const char* about_input = "the file with the operands (fp8twin random makes one)";
inline constexpr const char* about_output = "the file to write d to (.safetensors or .npy)";

/// The operands' file (called `input`) and -o.
void add_job_files(CLI::App* command, JobOptions& options, const std::string& input);
/// --fraction-bits and --simd.
void add_model_options(CLI::App* command, JobOptions& options);
/// --output and --promote.
void add_result_options(CLI::App* command, JobOptions& options);

/// bf16 or f32, by --output or by default. Throws Error.
DType output_type(const JobOptions& options, DType by_default);
/// By --promote. Throws Error.
bool promotes(const JobOptions& options);

/// The metadata of d's file.
Metadata result_metadata(const Context& context, const JobOptions& options, const std::string& engine,
                         const Problem& problem);

/// The answer: d's file, type and shape, and of which problem it is.
void report_result(Context& context, const JobOptions& options, const std::string& engine,
                   const Problem& problem, DType type);

}  // namespace fp8twin::cli
