#include "gpu/jit/kernels.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace fp8twin::jit {

Source source_of(const std::string& name, const std::string& header, const std::vector<int>& wgmma_shapes,
                 const std::vector<Entry>& entries) {
  std::string text = fmt::format("#include \"{}\"\nusing namespace fp8twin;\n", header);
  for (const Entry& entry : entries) {
    text += fmt::format(
        "\nstruct Config_{0} {{ {3} }};\n"
        "FP8TWIN_KERNEL({4}) {0}(FP8TWIN_GRID_CONSTANT {2} arguments) {{ {1}(Config_{0}{{}}, arguments); "
        "}}\n",
        entry.name, entry.function, entry.arguments, entry.config, entry.threads);
  }
  return {name, text, wgmma_shapes};
}

namespace {

std::string members(const GemmConfig& config) {
  return fmt::format(
      "static constexpr u32 tile_m = {}, tile_n = {}, width = {}, stages = {}, cluster_m = {}, cluster_n = "
      "{}, slabs = {}, sets = {}, in_flight = {}, ring = {}; "
      "static constexpr bool output_f32 = {}, trace = {}, swapped = {}, b_scale_per_row = {}, accumulate = "
      "{}; "
      "static constexpr Grouping grouping = Grouping::{};",
      config.tile_m, config.tile_n, config.tile_n, config.stages, config.cluster_m, config.cluster_n,
      config.slabs(), config.slabs(), config.in_flight, config.in_flight, config.output_f32, config.trace,
      config.swapped(), config.form.b_scale_per_row, config.form.accumulate,
      grouping_name(config.form.grouping));
}

Entry entry(const GemmConfig& config) {
  const std::string arguments = config.step == 1 ? "GemmArguments" : "TmaGemmArguments";
  return {config.name(), std::string(step_name(config.step)), arguments, members(config), config.threads()};
}

std::string header(int step) { return fmt::format("gpu/kernels/{}.hpp", step_name(step)); }

}  // namespace

Source gemm_source(const GemmConfig& config) {
  return source_of(config.name(), header(config.step), {static_cast<int>(config.tile_n)}, {entry(config)});
}

std::vector<Source> gemm_sources(std::span<const GemmConfig> configs) {
  std::map<std::pair<int, u32>, std::vector<Entry>> units;
  for (const GemmConfig& config : configs) units[{config.step, config.tile_n}].push_back(entry(config));
  std::vector<Source> sources;
  for (const auto& [unit, entries] : units) {
    const auto& [step, tile_n] = unit;
    sources.push_back(source_of(fmt::format("{}_n{}", step_name(step), tile_n), header(step),
                                {static_cast<int>(tile_n)}, entries));
  }
  return sources;
}

Source find_groups_source() {
  return source_of(find_groups_name, "gpu/kernels/find_groups.hpp", {},
                   {{find_groups_name, "find_groups", "FindGroupsArguments", ""}});
}

std::string ChainConfig::name() const {
  return fmt::format("wgmma_chain_n{}_k{}{}{}{}", n, 32 * k_steps, scale_a < 0 ? "_negate_a" : "",
                     scale_b < 0 ? "_negate_b" : "", a_in_registers ? "_register_a" : "");
}

std::string ChainConfig::members() const {
  return fmt::format(
      "static constexpr u32 n = {0}, width = {0}, k_steps = {1}; static constexpr i32 scale_a = {2}, scale_b "
      "= {3}; "
      "static constexpr bool a_in_registers = {4};",
      n, k_steps, scale_a, scale_b, a_in_registers);
}

Source wgmma_chain_source(const ChainConfig& config) {
  return source_of(config.name(), "gpu/kernels/wgmma_chain.hpp", {config.n},
                   {{config.name(), "wgmma_chain", "WgmmaArguments", config.members()}});
}

}  // namespace fp8twin::jit
