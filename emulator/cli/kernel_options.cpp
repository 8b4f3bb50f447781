#include "emulator/cli/kernel_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "emulator/cli/values.hpp"
#include "emulator/engine/trace_file.hpp"
#include "emulator/files/quote.hpp"
#include "gpu/launch/choose.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::int64_t most_multiprocessors = 1 << 20;

std::string output_name(const GemmConfig& config) { return config.output_f32 ? "f32" : "bf16"; }

CLI::Option* add_optional_integer(CLI::App* command, const std::string& name,
                                  std::optional<std::int64_t>& value, const std::string& description,
                                  std::int64_t low, std::int64_t high) {
  return command
      ->add_option_function<std::string>(
          name,
          [&value, name, low, high](const std::string& text) {
            value = parse_integer(name, text, low, high);
          },
          description)
      ->type_name("INT");
}

}  // namespace

bool KernelOptions::any_of_a_kernel() const {
  return !kernel.empty() || !tile.empty() || !cluster.empty() || stages || in_flight || multiprocessors;
}

bool KernelOptions::any_of_a_schedule() const { return schedule || schedule_seed || !checks.empty(); }

void add_kernel_options(CLI::App* command, KernelOptions& options) {
  command
      ->add_option("--kernel", options.kernel,
                   "machine, gpu: a step of the ladder, by name or number (default: 8 or 9, whichever is "
                   "faster; 8 with a tile, stages, a cluster or K blocks in flight)")
      ->type_name("STEP");
  command
      ->add_option(
          "--tile", options.tile,
          "machine, gpu: rows and columns of D for each block, in step 9 columns and rows (default: by M, N "
          "and K)")
      ->type_name("MxN");
  add_optional_integer(command, "--stages", options.stages,
                       "machine, gpu: K blocks in shared memory at a time", 1, 1 << 16);
  command
      ->add_option("--cluster", options.cluster,
                   "machine, gpu: blocks that share a tile of B (2x1) or of A (1x2; in step 9 the other way "
                   "round), from step 6 on; steps 8 and 9 take 2x2, 4x1 and 1x4, too")
      ->type_name("XxY");
  add_optional_integer(
      command, "--in-flight", options.in_flight,
      "machine, gpu: K blocks of a stage, from step 8 on (default: by M, N and K; with --tile 1)", 1, 64);
  add_optional_integer(command, "--multiprocessors", options.multiprocessors,
                       "machine, gpu: how many the persistent kernels fill (default: the card's; machine: an "
                       "H200's 132); also changes which configuration is chosen",
                       1, most_multiprocessors);
}

void add_schedule_options(CLI::App* command, KernelOptions& options) {
  command
      ->add_option_function<std::string>(
          "--schedule",
          [&options](const std::string& text) {
            try {
              options.schedule = schedule_from_name(text);
            } catch (const Error& error) {
              throw Error(std::string("--schedule: ") + error.what());
            }
          },
          "machine: when copies land and wgmma reads: earliest, latest, mixed or random (default)")
      ->type_name("NAME");
  command
      ->add_option_function<std::string>(
          "--schedule-seed",
          [&options](const std::string& text) {
            options.schedule_seed = parse_unsigned("--schedule-seed", text);
          },
          "machine: which of its orders the schedule takes (default 1)")
      ->type_name("INT");
  command->add_option("--checks", options.checks, "machine: its checkers, on (default) or off")
      ->type_name("on|off");
}

void need_options_of(const std::string& engine, const KernelOptions& options) {
  if (options.any_of_a_kernel() && engine == "model") {
    throw Error(
        "--kernel, --tile, --stages, --cluster, --in-flight and --multiprocessors: engine model runs no "
        "kernel; needed is "
        "--engine "
        "machine or gpu");
  }
  if (options.any_of_a_schedule() && engine != "machine") {
    throw Error(
        fmt::format("--schedule, --schedule-seed and --checks: engine {} has no schedule to choose; needed "
                    "is --engine machine",
                    engine));
  }
  if (!options.checks.empty() && options.checks != "on" && options.checks != "off") {
    throw Error(fmt::format("--checks: found {}; on or off is needed", quote(options.checks)));
  }
}

std::pair<std::uint32_t, std::uint32_t> parse_extents(const char* option, const std::string& text) {
  const std::size_t x = text.find('x');
  if (x == std::string::npos) {
    throw Error(fmt::format("{}: found {}; two integers such as 128x64 are needed", option, quote(text)));
  }
  const auto part = [&](const std::string& digits) {
    return static_cast<std::uint32_t>(parse_integer(option, digits, 1, 1 << 16));
  };
  return {part(text.substr(0, x)), part(text.substr(x + 1))};
}

namespace {

/// The narrowest tile that the step accepts with this cluster, if possible no narrower than the one chosen without.
std::uint32_t width_with_cluster(const GemmConfig& config) {
  std::uint32_t best = 0;
  for (const GemmConfig& accepted : accepted_configs(config.step)) {
    if (accepted.cluster_m != config.cluster_m || accepted.cluster_n != config.cluster_n ||
        accepted.tile_m != config.tile_m || accepted.in_flight != config.in_flight ||
        accepted.output_f32 != config.output_f32)
      continue;
    if (config.form != ProductForm{}) {
      GemmConfig formed = accepted;
      formed.form = config.form;
      formed.stages = usual_stages(formed);
      if (!is_accepted(formed)) continue;
    }
    const bool better =
        best == 0 || (best < config.tile_n ? accepted.tile_n > best
                                           : accepted.tile_n >= config.tile_n && accepted.tile_n < best);
    if (better) best = accepted.tile_n;
  }
  return best ? best : config.tile_n;  // none: check_accepted says why
}

}  // namespace

GemmConfig config_for(const KernelOptions& options, const Product& product, bool output_f32,
                      std::uint32_t multiprocessors) {
  const bool nothing =
      options.tile.empty() && options.cluster.empty() && !options.stages && !options.in_flight;
  if (options.kernel.empty() && nothing) return choose_config(product, output_f32, multiprocessors);
  const int step = options.kernel.empty() ? 8 : step_from_name(options.kernel);
  GemmConfig config = default_config(step, product, output_f32, multiprocessors);
  if (!options.tile.empty()) {
    config.in_flight = 1;
    std::tie(config.tile_m, config.tile_n) = parse_extents("--tile", options.tile);
    config.cluster_m = config.cluster_n = 1;
  }
  if (options.in_flight) config.in_flight = static_cast<std::uint32_t>(*options.in_flight);
  if (!options.cluster.empty()) {
    std::tie(config.cluster_m, config.cluster_n) = parse_extents("--cluster", options.cluster);
    if (options.tile.empty()) config.tile_n = width_with_cluster(config);
  }
  if (options.stages) {
    config.stages = static_cast<std::uint32_t>(*options.stages);
  } else if (!nothing) {
    config.stages = usual_stages(config);
  }
  check_accepted(config);
  return config;
}

void set_schedule(const KernelOptions& options, RunOptions& run) {
  if (options.schedule) run.schedule = *options.schedule;
  if (options.schedule_seed) run.schedule_seed = *options.schedule_seed;
  run.checks = options.checks != "off";
}

namespace {

/// "masked, 1d1d", "along_k, c"; "-" for one product, 1D2D.
std::string form_text(const ProductForm& form) {
  std::vector<std::string_view> words;
  if (form.grouping != Grouping::none) words.push_back(grouping_name(form.grouping));
  if (form.b_scale_per_row) words.push_back("1d1d");
  if (form.accumulate) words.push_back("c");
  return words.empty() ? "-" : fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

void list_configs(Context& context, const KernelOptions& options) {
  std::vector<GemmConfig> configs = offered_configs();
  if (!options.kernel.empty()) {
    const int step = step_from_name(options.kernel);
    std::erase_if(configs, [&](const GemmConfig& config) { return config.step != step; });
  }
  Json list = Json::array();
  context.text =
      fmt::format("{:<18} {:<8} {:>6} {:>12}  {:<8} {:>9}  {:<7} {:>7} {:>13}  {}\n", "kernel", "tile",
                  "stages", "at most", "cluster", "in flight", "output", "threads", "shared bytes", "form");
  for (const GemmConfig& config : configs) {
    const std::string tile = extents_text(config.tile_m, config.tile_n),
                      cluster = extents_text(config.cluster_m, config.cluster_n);
    context.text += fmt::format("{:<18} {:<8} {:>6} {:>12}  {:<8} {:>9}  {:<7} {:>7} {:>13}  {}\n",
                                step_name(config.step), tile, config.stages, most_stages(config), cluster,
                                config.in_flight, output_name(config), config.threads(),
                                config.shared_bytes(), form_text(config.form));
    list.push_back({{"kernel", step_name(config.step)},
                    {"step", config.step},
                    {"tile", tile},
                    {"stages", config.stages},
                    {"most_stages", most_stages(config)},
                    {"cluster", cluster},
                    {"in_flight", config.in_flight},
                    {"output", output_name(config)},
                    {"form", form_text(config.form)},
                    {"threads", config.threads()},
                    {"shared_bytes", config.shared_bytes()}});
  }
  context.answer = {{"configs", list}};
}

std::string config_options(const GemmConfig& config) {
  return fmt::format("--kernel {} --tile {} --stages {} --cluster {}{}", step_name(config.step),
                     extents_text(config.tile_m, config.tile_n), config.stages,
                     extents_text(config.cluster_m, config.cluster_n),
                     config.step >= 8 ? fmt::format(" --in-flight {}", config.in_flight) : "");
}

}  // namespace fp8twin::cli
