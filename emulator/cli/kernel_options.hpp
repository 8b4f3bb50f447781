// Options of the engines that run kernels: which kernel in which configuration, and on the machine in which order.
//
//   machine, gpu   --kernel STEP --tile MxN --stages S --cluster XxY --in-flight N --multiprocessors N
//   machine        --schedule NAME --schedule-seed S --checks on|off
//
// What is not said is chosen (gpu/launch/choose.hpp): step 8 or 9, the tile that suits M, N and K, as many stages as help.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "emulator/cli/command.hpp"
#include "emulator/engine/engine.hpp"

namespace fp8twin::cli {

struct KernelOptions {
  std::string kernel, tile, cluster;  // "": chosen
  std::optional<std::int64_t> stages, in_flight, multiprocessors;
  std::optional<machine::Schedule> schedule;
  std::optional<std::uint64_t> schedule_seed;
  std::string checks;

  bool any_of_a_kernel() const;
  bool any_of_a_schedule() const;
};

void add_kernel_options(CLI::App* command, KernelOptions& options);
void add_schedule_options(CLI::App* command, KernelOptions& options);

/// Throws Error if an option was given that `engine` does not read.
void need_options_of(const std::string& engine, const KernelOptions& options);

/// "128x64" as two positive integers.
std::pair<std::uint32_t, std::uint32_t> parse_extents(const char* option, const std::string& text);

/// The configuration asked for, for a product. Throws Error when it is not accepted.
GemmConfig config_for(const KernelOptions& options, const Product& product, bool output_f32,
                      std::uint32_t multiprocessors);
/// The machine's part.
void set_schedule(const KernelOptions& options, RunOptions& run);

/// `--list-configs`: what is offered, of one step or of all.
void list_configs(Context& context, const KernelOptions& options);
/// The options that say this configuration: "--kernel gemm_7_full --tile 128x64 --stages 4 --cluster 2x1", from
/// step 8 on " --in-flight 1", too.
std::string config_options(const GemmConfig& config);

}  // namespace fp8twin::cli
