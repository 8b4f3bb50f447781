#include "gpu/bench/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "emulator/support/error.hpp"
#include "gpu/kernels/raster.hpp"
#include "gpu/launch/choose.hpp"

namespace fp8twin::bench {
namespace {

/// Takes `prefix` and then, where asked, a number off the front; once something is missing, nothing more is taken.
struct NameReader {
  std::string_view rest;
  bool failed = false;

  bool has(std::string_view prefix) {
    if (failed || !rest.starts_with(prefix)) return false;
    rest.remove_prefix(prefix.size());
    return true;
  }
  u32 number(std::string_view prefix) {
    u32 value = 0;
    if (!has(prefix)) failed = true;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    failed = failed || error != std::errc();
    if (!failed) rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return value;
  }
};

bool is_number_or_step(std::string_view text) {
  if (text.find_first_not_of("0123456789") == std::string_view::npos) return true;
  for (int step = first_step; step <= last_step; ++step) {
    if (text == step_name(step)) return true;
  }
  return false;
}

}  // namespace

GemmConfig config_from_name(std::string_view name) {
  for (int step = first_step; step <= last_step; ++step) {
    NameReader reader{name};
    if (!reader.has(step_name(step))) continue;
    GemmConfig config{.step = step};
    config.tile_m = reader.number("_");
    config.tile_n = reader.number("x");
    config.stages = reader.number("_s");
    config.cluster_m = reader.number("_c");
    config.cluster_n = reader.number("x");
    if (step >= 8) config.in_flight = reader.number("_p");
    config.output_f32 = reader.has("_f32");
    if (!config.output_f32 && !reader.has("_bf16")) continue;
    for (const ProductForm& form : product_forms()) {
      GemmConfig formed = config;
      formed.form = form;
      if (formed.name() == name) config = formed;
      formed.trace = true;
      if (formed.name() == name) config = formed;
    }
    if (config.name() != name) continue;
    check_accepted(config);
    return config;
  }
  throw Error(
      fmt::format("'{}' names no configuration: needed is a name like {}", name, GemmConfig{}.name()));
}

std::vector<GemmConfig> candidates(i64 m, i64, i64, int step) {
  std::vector<GemmConfig> all = accepted_configs(step);
  std::erase_if(all, [&](const GemmConfig& config) {
    if (config.output_f32 || config.trace) return true;
    const i64 rows = config.swapped() ? config.tile_n : config.tile_m;  // of A, in a tile
    if (config.swapped()) return m > 256 || rows >= 2 * m + 8;
    if (step < 8) return false;
    return m <= 128 ? rows > 64 && rows >= 2 * m : rows < 128 || config.tile_n < 64;
  });
  return all;
}

std::vector<GemmConfig> selected_configs(std::string_view selection, const Shape& shape) {
  std::vector<GemmConfig> configs;
  const auto add_step = [&](int step) {
    const std::vector<GemmConfig> some = candidates(shape.m, shape.n, shape.k, step);
    configs.insert(configs.end(), some.begin(), some.end());
  };
  if (selection == "all") {
    for (int step = first_step; step <= last_step; ++step) add_step(step);
    return configs;
  }
  for (std::string_view rest = selection; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (is_number_or_step(one)) {
      add_step(step_from_name(one));
    } else {
      configs.push_back(config_from_name(one));
    }
  }
  if (configs.empty())
    throw Error("no configuration was chosen: needed is all, a step, or names with commas between");
  return configs;
}

GemmConfig chosen_config(const Shape& shape, u32 multiprocessors) {
  return choose_config(shape.m, shape.n, shape.k, false, multiprocessors);
}

Tiling tiling_of(const LaunchPlan& plan, u32 resident_clusters) {
  const GemmConfig& config = plan.config;
  const u64 height = u64{config.cluster_m} * config.tile_m, width = u64{config.cluster_n} * config.tile_n;
  const u64 clusters = ((plan.rows() + height - 1) / height) * ((plan.columns() + width - 1) / width);
  Tiling tiling;
  tiling.tiles = clusters * plan.cluster;
  if (clusters == 0) return tiling;
  tiling.waves = resident_clusters ? static_cast<double>(clusters) / resident_clusters : 0;
  tiling.efficiency =
      static_cast<double>(u64{plan.m} * plan.n) / static_cast<double>(clusters * height * width);
  return tiling;
}

}  // namespace fp8twin::bench
