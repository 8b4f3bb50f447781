#include "gpu/launch/configs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "emulator/support/error.hpp"
#include "gpu/kernels/shared_layout.hpp"
#include "gpu/launch/choose.hpp"

namespace fp8twin {
namespace {

constexpr std::array<std::string_view, last_step> names = {
    "gemm_1_one_tile",  "gemm_2_tma",  "gemm_3_stages",     "gemm_4_specialised", "gemm_5_persistent",
    "gemm_6_multicast", "gemm_7_full", "gemm_8_overlapped", "gemm_9_swapped"};

/// Steps 1 and 7 to 9 take them all, the steps between a few: narrow, even, straddling scale blocks, widest.
std::vector<u32> widths(int step) {
  if (step > 1 && step < 7) return {16, 64, 112, 128, 152, 192};
  std::vector<u32> all;
  for (u32 n = 8; n <= 192; n += 8) all.push_back(n);
  return all;
}

std::vector<u32> heights(int step) {
  if (step < 4) return {64};
  if (step == 8) return {64, 128, 192, 256};
  return {64, 128};
}

struct Cluster {
  u32 m, n;
  std::string text() const { return fmt::format("{}x{}", m, n); }
};

std::vector<Cluster> clusters(int step) {
  if (step < 6) return {{1, 1}};
  if (step < 8) return {{1, 1}, {2, 1}, {1, 2}};
  return {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}};
}

std::vector<u32> numbers_in_flight(int step) {
  if (step < 8) return {1};
  return {1, 2, 4, 8};
}

/// Parts of a shared tile must be whole eights of rows. A's always are.
bool parts(u32 tile_n, Cluster cluster) { return tile_n % (8 * cluster.m) == 0; }

/// Registers that accumulators and totals may have: what a thread has (gpu/kernels/roles.hpp), less what all else needs. A
/// store of FP32 needs more for addresses, and for values in the order that keeps banks apart. Found by compiling.
u32 most_accumulator_registers(const GemmConfig& config) {
  const u32 consumers = config.tile_m / (64 * config.slabs());
  if (config.form.accumulate && !config.output_f32) return consumers == 3 ? 96 : 160;  // c and its addresses
  if (config.form.grouping != Grouping::none && !config.output_f32) {
    return consumers == 1 ? 176 : consumers == 2 ? 192 : 128;
  }
  const bool batches = config.in_flight > 1;
  if (config.output_f32 && config.step == 8) {
    return consumers == 1 ? (batches ? 168 : 152) : consumers == 2 ? 128 : 88;
  }
  if (config.output_f32 && config.step == 9) return consumers == 1 ? (batches ? 184 : 208) : 168;
  if (config.step == 9 && consumers == 2) return 176;
  return consumers == 1 ? 208 : consumers == 2 ? 192 : 128;
}

u32 sum_registers(const GemmConfig& config) {
  return (config.in_flight + config.slabs()) * config.tile_n / 2;
}

bool fits_registers(const GemmConfig& config) {
  return sum_registers(config) <= most_accumulator_registers(config);
}

/// Batches of K blocks are for consumers of one slab.
bool fits_batch(const GemmConfig& config) { return config.slabs() == 1 || config.in_flight == 1; }

bool ring(int step) { return step >= 3; }

}  // namespace

std::string GemmConfig::name() const {
  std::string of_form;
  if (form.grouping != Grouping::none) of_form += fmt::format("_{}", grouping_name(form.grouping));
  if (form.b_scale_per_row) of_form += "_1d1d";
  if (form.accumulate) of_form += "_plus_c";
  return fmt::format("{}_{}x{}_s{}_c{}x{}_{}{}{}{}", step_name(step), tile_m, tile_n, stages, cluster_m,
                     cluster_n, step >= 8 ? fmt::format("p{}_", in_flight) : "", output_f32 ? "f32" : "bf16",
                     of_form, trace ? "_trace" : "");
}

MachineConfig GemmConfig::machine() const {
  return {tile_m,         tile_n,  stages,    cluster_m, cluster_n,     output_f32,
          trace,          slabs(), in_flight, swapped(), form.grouping, form.b_scale_per_row,
          form.accumulate};
}

u32 GemmConfig::threads() const { return step < 4 ? warpgroup : warpgroup + consumer_threads(machine()); }

u32 GemmConfig::shared_bytes() const { return fp8twin::shared_bytes(machine(), beside()); }

std::string_view step_name(int step) {
  if (step < first_step || step > last_step) {
    throw Error(
        fmt::format("there is no kernel {}: the ladder has steps {} to {}", step, first_step, last_step));
  }
  return names[static_cast<std::size_t>(step - 1)];
}

int step_from_name(std::string_view name) {
  for (int step = first_step; step <= last_step; ++step) {
    if (name == step_name(step) || name == fmt::format("{}", step)) return step;
  }
  throw Error(
      fmt::format("'{}' is no kernel: needed is one of {}, or its number", name, fmt::join(names, ", ")));
}

std::string_view grouping_name(Grouping grouping) {
  constexpr std::array<std::string_view, 5> all = {"none", "batched", "contiguous", "masked", "along_k"};
  return all[static_cast<std::size_t>(grouping)];
}

u32 most_stages(const GemmConfig& config) {
  if (!ring(config.step)) return 1;
  GemmConfig more = config;
  for (more.stages = config.step < 8 ? 8 : 16; more.stages > 2 && more.shared_bytes() > most_shared_bytes;
       --more.stages) {
  }
  return more.stages;
}

u32 usual_stages(const GemmConfig& config) {
  return std::min(most_stages(config), config.step < 7 ? 4u : config.step == 7 ? 8u : 16u);
}

std::vector<GemmConfig> accepted_configs(int step) {
  std::vector<GemmConfig> all;
  for (const bool output_f32 : {false, true}) {
    for (const Cluster cluster : clusters(step)) {
      for (const u32 tile_m : heights(step)) {
        for (const u32 tile_n : widths(step)) {
          for (const u32 in_flight : numbers_in_flight(step)) {
            GemmConfig config{step, tile_m, tile_n, 1, cluster.m, cluster.n, output_f32, false, in_flight};
            if (!parts(tile_n, cluster) || !fits_registers(config) || !fits_batch(config)) continue;
            config.stages = usual_stages(config);
            if (config.shared_bytes() <= most_shared_bytes) all.push_back(config);
          }
        }
      }
    }
  }
  return all;
}

namespace {

/// One sentence, or none.
std::optional<std::string> refusal(const GemmConfig& config) {
  const std::string_view step = step_name(config.step);
  if (config.step < 8 && config.form != ProductForm{}) {
    return std::string(fmt::format(
        "{}: multiplies one A and B, with a scale for each 128 rows of B and no c; accepted from step 8 "
        "on are groups, a scale for each row of B (1D1D), and c",
        step));
  }
  const auto is_any_of = [](u32 value, const std::vector<u32>& accepted) {
    return std::find(accepted.begin(), accepted.end(), value) != accepted.end();
  };
  if (const std::vector<u32> accepted = heights(config.step); !is_any_of(config.tile_m, accepted)) {
    return std::string(fmt::format("{}: tiles of {} rows are not accepted; accepted are {}", step,
                                   config.tile_m, fmt::join(accepted, ", ")));
  }
  if (const std::vector<u32> accepted = widths(config.step); !is_any_of(config.tile_n, accepted)) {
    return std::string(fmt::format("{}: tiles of {} columns are not accepted; accepted are {}", step,
                                   config.tile_n, fmt::join(accepted, ", ")));
  }
  const Cluster cluster{config.cluster_m, config.cluster_n};
  const std::vector<Cluster> accepted = clusters(config.step);
  if (std::none_of(accepted.begin(), accepted.end(),
                   [&](Cluster one) { return one.m == cluster.m && one.n == cluster.n; })) {
    std::vector<std::string> texts;
    for (const Cluster one : accepted) texts.push_back(one.text());
    return std::string(fmt::format("{}: clusters of {} are not accepted; accepted {} {}", step,
                                   cluster.text(), texts.size() == 1 ? "is" : "are", fmt::join(texts, ", ")));
  }
  if (!parts(config.tile_n, cluster)) {
    return std::string(fmt::format(
        "{}: a tile of {} columns has no {} of whole eights for a cluster of {}: a multiple of {} is needed",
        step, config.tile_n, cluster.m == 2 ? "halves" : "quarters", cluster.text(), 8 * cluster.m));
  }
  if (const std::vector<u32> numbers = numbers_in_flight(config.step);
      !is_any_of(config.in_flight, numbers) || !fits_batch(config)) {
    return std::string(
        fmt::format("{}: {} K blocks in flight with tiles of {} rows are not accepted; accepted are {}", step,
                    config.in_flight, config.tile_m,
                    config.slabs() == 1 ? fmt::format("{}", fmt::join(numbers, ", ")) : "1"));
  }
  if (config.step >= 8 && !fits_registers(config)) {
    return std::string(
        fmt::format("{}: a tile of {}x{} with {} in flight needs {} registers of a thread for sums; {} "
                    "are the most",
                    step, config.tile_m, config.tile_n, config.in_flight, sum_registers(config),
                    most_accumulator_registers(config)));
  }
  const u32 least = ring(config.step) ? 2 : 1, most = most_stages(config);
  GemmConfig smallest = config;
  smallest.stages = least;
  if (smallest.shared_bytes() > most_shared_bytes) {
    return std::string(
        fmt::format("{}: a tile of {}x{} with {} K blocks in flight needs {} bytes of shared memory in {} "
                    "stages; {} are the most",
                    step, config.tile_m, config.tile_n, config.in_flight, smallest.shared_bytes(), least,
                    most_shared_bytes));
  }
  if (config.stages < least || config.stages > most) {
    return std::string(
        fmt::format("{0}: with tiles of {2}x{3} the number of stages is {4}, found {1}", step, config.stages,
                    config.tile_m, config.tile_n,
                    least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most)));
  }
  return std::nullopt;
}

}  // namespace

void check_accepted(const GemmConfig& config) {
  if (const std::optional<std::string> sentence = refusal(config)) throw Error(*sentence);
}

bool is_accepted(const GemmConfig& config) { return !refusal(config); }

GemmConfig default_config(int step, const Product& product, bool output_f32, u32 multiprocessors) {
  if (step >= 8) return choose_config(step, product, output_f32, multiprocessors);
  const i64 m = product.m, n = product.n;
  GemmConfig best;
  double least = 0;
  for (const GemmConfig& config : offered_configs(step)) {
    if (config.output_f32 != output_f32 || config.cluster_m * config.cluster_n > 1) continue;
    if (config.tile_n > 128 && step < 7) continue;
    const i64 tiles_m = (m + config.tile_m - 1) / config.tile_m,
              tiles_n = (n + config.tile_n - 1) / config.tile_n;
    const i64 waves = (tiles_m * tiles_n + multiprocessors - 1) / multiprocessors;
    // A wave takes as long as its K blocks' bytes or products: taller and wider tiles use both better.
    const double time =
        static_cast<double>(waves) * (config.tile_m * config.tile_n / 128.0 + config.tile_m / 2.0 + 32);
    if (least == 0 || time <= least) {
      least = time;
      best = config;
    }
  }
  // In more than one wave blocks below one another share B: half the traffic for it.
  const i64 tiles_m = (m + best.tile_m - 1) / best.tile_m, tiles_n = (n + best.tile_n - 1) / best.tile_n;
  if (step >= 6 && tiles_m % 2 == 0 && tiles_m * tiles_n > multiprocessors && parts(best.tile_n, {2, 1})) {
    best.cluster_m = 2;
  }
  best.form = product.form;  // which such a step refuses, if it is any
  return best;
}

}  // namespace fp8twin
