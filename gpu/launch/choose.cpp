#include "gpu/launch/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

// Fitted. Times in microseconds; cycles of 1.755 GHz; bytes a microsecond are MB/s.
constexpr double cycles = 1755;
constexpr double start_us = 3.6, cluster_us = 0.1;  // a launch, and what meeting in a cluster adds
constexpr double memory_rate = 4.05e6;              // bytes a microsecond
constexpr double cache_rate = 20e6;                 // the least that the measured times tell from none
constexpr double copy_rate = 155e3;                 // into one multiprocessor: 88 bytes a cycle
constexpr double first_copy = 0.1;                  // the part of a first stage's time that nothing hides
constexpr double read_again = 0.04;                 // the part of B that two rows of tiles read twice
constexpr double loaded = 1.05;  // how much longer a product takes at the clock of a busy card
constexpr double promotion = 60, per_column = 0.1;  // cycles of a slab of 64 rows
constexpr double straddling_32 = 0.25;              // cycles a column more, where a scale block may begin ...
constexpr double straddling_16 = 1.8;               // ... at each 32nd column, or at each 16th
constexpr double own_scale = 2.6;                   // ... where each column has a scale of its own
constexpr double store_cycles = 1000, store_column = 1.75;  // of a tile; of 64 rows of a column
constexpr double swapped_store_us = 0.8;                    // D's rows are short pieces there
constexpr double batch_cycles = 40;                         // barriers of a stage
constexpr double empty_row_us = 0.5e-3;                     // of a K block, past the end of A

u64 parts_of(u64 extent, u64 part) { return (extent + part - 1) / part; }

/// Clusters of four leave some multiprocessors out: 120 of an H200's 132 hold one.
u64 resident_clusters(const GemmConfig& config, u32 multiprocessors) {
  const u32 size = config.cluster_m * config.cluster_n;
  return (size <= 2 ? multiprocessors : multiprocessors - multiprocessors / 11) / size;
}

/// Cycles for 64 rows of a K block, promoted.
double promotion_cycles(const GemmConfig& config) {
  if (config.form.b_scale_per_row) return promotion + config.tile_n * (per_column + own_scale);
  const u32 step = std::gcd(config.tile_n, 128u);  // scale blocks begin at multiples of it
  const bool meets_one = config.swapped() || step == config.tile_n;
  const double straddling = meets_one || step >= 64 ? 0 : step == 32 ? straddling_32 : straddling_16;
  return promotion + config.tile_n * (per_column + straddling);
}

/// Cycles for a tile's K block.
double product_cycles(const GemmConfig& config) {
  const double product = 2.0 * std::max(config.tile_n, 16u), slabs = config.tile_m / 64.0;
  const double promoted = promotion_cycles(config);
  if (config.tile_m == 64) return std::max(product, product / config.in_flight + promoted);
  const double busy = loaded * product;
  return slabs * std::pow(std::pow(busy, 1.5) + std::pow(promoted, 1.5), 1 / 1.5);
}

double longest_of(double a, double b, double c) {
  const double most = std::max({a, b, c});
  if (most == 0) return 0;
  const auto fourth = [&](double x) { return std::pow(x / most, 4); };
  return most * std::pow(fourth(a) + fourth(b) + fourth(c), 0.25);
}

/// Groups of more than two tiles of 64 rows each, which read B more often than this model knows.
bool has_many_rows(const Product& product) {
  if (product.form.grouping == Grouping::none) return false;
  i64 rows = 0, groups = 0;
  for (const i64 each : product.expected_rows()) {
    rows += each;
    groups += each > 0;
  }
  return rows > 128 * groups;
}

/// None where not one cluster of any candidate fits; a block alone always does.
void consider(int step, const Product& product, bool output_f32, u32 multiprocessors,
              std::optional<GemmConfig>& best, double& least) {
  for (const GemmConfig& config : candidate_configs(step, output_f32, product.form)) {
    if (resident_clusters(config, multiprocessors) == 0) continue;
    if (config.tile_m == 64 && !config.swapped() && has_many_rows(product)) continue;
    const double total = estimate(product, config, multiprocessors).total;
    if (best && total >= least) continue;
    best = config;
    least = total;
  }
}

}  // namespace

Estimate estimate(const Product& product, const GemmConfig& config, u32 multiprocessors) {
  const bool along_k = config.form.grouping == Grouping::along_k;
  const u64 k_blocks = along_k ? 0 : parts_of(static_cast<u64>(product.k), k_block);
  const u32 size = config.cluster_m * config.cluster_n,
            tokens = config.swapped() ? config.tile_n : config.tile_m;
  const u64 high = config.tile_m * config.cluster_m, wide = config.tile_n * config.cluster_n;
  Estimate e;
  u64 read_twice = 0, with_rows = 0;
  double rows_in_all = 0, empty = 0, stages = 0;  // stages: of all clusters
  const std::vector<i64> rows_of = product.expected_rows();
  for (std::size_t group = 0; group < rows_of.size(); ++group) {
    const u64 m = static_cast<u64>(rows_of[group]), n = static_cast<u64>(product.n);
    const u64 down = parts_of(config.swapped() ? n : m, high),
              across = parts_of(config.swapped() ? m : n, wide);
    const u64 blocks = along_k ? static_cast<u64>(k_blocks_taken(product.k_sizes[group])) : k_blocks;
    e.clusters += down * across;
    stages += static_cast<double>(down * across * parts_of(blocks, config.in_flight));
    if (m == 0 || n == 0) continue;
    ++with_rows;
    rows_in_all += static_cast<double>(m);
    read_twice += (config.swapped() ? across : down) > 1;
    empty += m < tokens ? static_cast<double>(tokens - m) : 0;
  }
  e.resident = resident_clusters(config, multiprocessors);
  e.waves = parts_of(e.clusters, std::max<u64>(e.resident, 1));
  if (e.waves == 0) return e;

  const double waves = static_cast<double>(e.waves), element = config.output_f32 ? 4 : 2;
  const double batched = stages / static_cast<double>(e.clusters) * config.in_flight;  // K blocks of a tile
  const double k = along_k ? 128 * batched : static_cast<double>(product.k),
               n = static_cast<double>(product.n);
  const double a = rows_in_all * (k + k / 32), b = n * k,
               d = element * rows_in_all * n * (config.form.accumulate ? 2 : 1);
  e.memory = (a + b * (static_cast<double>(with_rows) + read_again * static_cast<double>(read_twice)) + d) /
             memory_rate;

  const double copied = 128.0 * (config.tile_m + config.tile_n) + 4 * tokens,
               shared = 128.0 *
                        (config.tile_m / double(config.cluster_n) + config.tile_n / double(config.cluster_m));
  e.caches = static_cast<double>(e.clusters * size) * batched * shared / cache_rate;
  e.copies = waves * batched * copied / copy_rate;
  e.products = waves * batched * product_cycles(config) / cycles;

  e.last_store = (store_cycles + store_column * config.tile_m / 64 * config.tile_n * element / 2) / cycles +
                 (config.swapped() ? swapped_store_us : 0);
  e.stores = (waves - 1) * e.last_store;

  e.start = start_us + (size > 1 ? cluster_us : 0) + first_copy * config.in_flight * copied / copy_rate;
  e.waits = waves * batched *
            (batch_cycles / config.in_flight / cycles +
             empty_row_us * empty / static_cast<double>(std::max<u64>(with_rows, 1)));
  e.total = e.start + longest_of(e.memory, e.caches, std::max(e.copies, e.products + e.stores)) +
            e.last_store + e.waits;
  return e;
}

GemmConfig choose_config(const Product& product, bool output_f32, u32 multiprocessors) {
  std::optional<GemmConfig> best;
  double least = 0;
  for (const int step : {8, 9}) consider(step, product, output_f32, multiprocessors, best, least);
  return *best;
}

GemmConfig choose_config(int step, const Product& product, bool output_f32, u32 multiprocessors) {
  std::optional<GemmConfig> best;
  double least = 0;
  consider(step, product, output_f32, multiprocessors, best, least);
  return *best;
}

std::string why(const Estimate& e) {
  if (e.waves == 0) return "nothing to compute";
  const double bounded = e.total - e.start - e.last_store - e.waits;
  const std::pair<double, const char*> bounds[] = {
      {e.memory, "what memory delivers"},
      {e.caches, "what the L2 cache delivers"},
      {e.copies, "what one multiprocessor takes in"},
      {e.products + e.stores, "what products and their promotion take"}};
  const auto& bound = *std::max_element(std::begin(bounds), std::end(bounds),
                                        [](const auto& x, const auto& y) { return x.first < y.first; });
  return fmt::format(
      "{} cluster{} in {} wave{} of {}: about {:.1f} us, {:.1f} of them bound by {} ({:.1f} for that alone), "
      "{:.1f} to start "
      "and to end, {:.1f} of waits",
      e.clusters, e.clusters == 1 ? "" : "s", e.waves, e.waves == 1 ? "" : "s", e.resident, e.total, bounded,
      bound.second, bound.first, e.start + e.last_store, e.waits);
}

}  // namespace fp8twin
