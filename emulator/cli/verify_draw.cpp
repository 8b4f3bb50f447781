#include "emulator/cli/verify_draw.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/cli/kernel_options.hpp"
#include "emulator/support/random.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::uint64_t order_streams = std::uint64_t{1} << 63;  // problems have the streams below

/// The numbers of one stream, one after the other.
class Numbers {
 public:
  Numbers(std::uint64_t seed, std::uint64_t stream) : random_(seed, stream) {}
  std::uint32_t below(std::uint64_t bound) { return random_.below(next_++, bound); }

  /// 1 to 2^octaves: one of the ranges {1}, {2}, {3, 4}, {5..8}, ... and a number of it.
  std::int64_t log_uniform(std::uint32_t octaves) {
    const std::uint32_t octave = below(octaves + 1);
    const std::uint32_t within = below(octave == 0 ? 1 : std::uint64_t{1} << (octave - 1));
    return (std::int64_t{1} << octave) - within;
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

std::vector<GemmConfig> in_random_order(std::vector<GemmConfig> configs, Numbers numbers) {
  for (std::size_t i = configs.size(); i > 1; --i) std::swap(configs[i - 1], configs[numbers.below(i)]);
  return configs;
}

/// An extent, and what it is a multiple of.
struct Extent {
  std::int64_t* value;
  std::int64_t multiple;

  bool can_shrink() const { return *value > multiple; }
  void halve() { *value = (*value / multiple + 1) / 2 * multiple; }
};

void shrink(Draw& draw, std::int64_t most_macs) {
  while (draw.macs() > std::max(most_macs, least_macs)) {
    Extent largest{nullptr, 0};
    for (const Extent extent : {Extent{&draw.m, 1}, Extent{&draw.n, 8}, Extent{&draw.k, 16}}) {
      if (extent.can_shrink() && (!largest.value || *extent.value > *largest.value)) largest = extent;
    }
    largest.halve();
  }
}

void draw_schedule(Numbers& numbers, RunOptions& run) {
  run.schedule = static_cast<machine::Schedule>(numbers.below(4));
  run.schedule_seed = numbers.below(std::uint64_t{1} << 32);
  constexpr std::uint32_t some[] = {2, 3, 5, 8, h200_multiprocessors};
  run.multiprocessors =
      std::max(some[numbers.below(std::size(some))], run.config.cluster_m * run.config.cluster_n);
  const std::uint32_t most = most_stages(run.config);
  if (most > 1) run.config.stages = 2 + numbers.below(most - 1);
}

}  // namespace

Drawer::Drawer(std::uint64_t seed, std::vector<std::string> engines, std::optional<int> step)
    : seed_(seed), engines_(std::move(engines)) {
  const std::vector<GemmConfig> all = step ? offered_configs(*step) : offered_configs();
  for (std::size_t engine = 0; engine < engines_.size(); ++engine) {
    std::vector<GemmConfig> bf16, f32;
    for (const GemmConfig& config : all) (config.output_f32 ? f32 : bf16).push_back(config);
    bf16_.push_back(in_random_order(std::move(bf16), Numbers(seed, order_streams + 2 * engine)));
    f32_.push_back(in_random_order(std::move(f32), Numbers(seed, order_streams + 2 * engine + 1)));
  }
}

GemmConfig Drawer::config(std::int64_t index, std::size_t engine) const {
  const std::vector<GemmConfig>& order = index % 2 ? f32_[engine] : bf16_[engine];
  return order[static_cast<std::size_t>(index / 2) % order.size()];
}

Draw Drawer::draw(std::int64_t index, std::int64_t most_macs) const {
  Numbers numbers(seed_, static_cast<std::uint64_t>(index));
  Draw draw;
  draw.m = numbers.log_uniform(12);
  draw.n = 8 * numbers.log_uniform(9);
  draw.k = 16 * numbers.log_uniform(8);
  const auto all = all_distributions();
  draw.distribution = numbers.below(4) == 0 ? Distribution::adversarial : all[numbers.below(all.size())];
  draw.seed = numbers.below(std::uint64_t{1} << 32);
  draw.output = index % 2 ? DType::f32 : DType::bf16;
  shrink(draw, most_macs);
  for (std::size_t engine = 0; engine < engines_.size(); ++engine) {
    RunOptions run;
    run.config = config(index, engine);
    if (engines_[engine] == "machine") draw_schedule(numbers, run);
    draw.runs.push_back(run);
  }
  return draw;
}

std::vector<std::string> reproducer(const Draw& draw, const std::vector<std::string>& engines,
                                    std::size_t other) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("fp8twin random p.safetensors --m {} --n {} --k {} --distribution {} --seed {}",
                              draw.m, draw.n, draw.k, distribution_name(draw.distribution), draw.seed));
  for (const std::size_t i : {std::size_t{0}, other}) {
    const RunOptions& run = draw.runs[i];
    std::string line = fmt::format("fp8twin gemm p.safetensors -o {0}.safetensors --engine {0} --output {1}",
                                   engines[i], draw.output == DType::f32 ? "f32" : "bf16");
    if (engines[i] == "model") {
      if (run.core.fraction_bits != sm90.fraction_bits)
        line += fmt::format(" --fraction-bits {}", run.core.fraction_bits);
    } else {
      line += " " + config_options(run.config);
    }
    if (engines[i] == "machine") {
      line += fmt::format(" --multiprocessors {} --schedule {} --schedule-seed {}", run.multiprocessors,
                          schedule_name(run.schedule), run.schedule_seed);
    }
    lines.push_back(line);
  }
  lines.push_back(fmt::format("fp8twin diff {}.safetensors {}.safetensors", engines[0], engines[other]));
  return lines;
}

}  // namespace fp8twin::cli
