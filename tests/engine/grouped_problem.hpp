// Problems of every kind, as `fp8twin random` writes them, and configurations of steps 8 and 9 that take them.
#pragma once

#include <string>
#include <vector>

#include "emulator/cli/random_problem.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/engine/launchable.hpp"

namespace fp8twin::test {

constexpr i64 none = cli::not_given;

// A switch of stacks is slow under AddressSanitizer, which looks at memory, not at orders: one run out of so many there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t one_of = 7;
#else
constexpr std::uint64_t one_of = 1;
#endif

struct Case {
  const char* kind;
  const char* groups;
  i64 m, n, k;
  i64 max_m = none;
  const char* b_block = "";
  bool with_c = false, group_ends = false;
  const char* padding = "";
  const char* gaps = "";

  std::string text() const {
    return std::string(kind) + " " + groups + ", M " + std::to_string(m) + ", N " + std::to_string(n) +
           ", K " + std::to_string(k) + " " + b_block + (with_c ? " with c" : "") +
           (group_ends ? " by ends" : "");
  }
};

inline Problem problem_of(const Case& c, Distribution distribution, std::uint64_t seed) {
  cli::ExtentOptions options;
  options.m = c.m;
  options.n = c.n;
  options.k = c.k;
  options.max_m = c.max_m;
  options.with_c = c.with_c;
  options.group_ends = c.group_ends;
  options.padding = c.padding;
  options.b_block = c.b_block;
  options.gaps = c.gaps;
  const cli::RandomProblem random(cli::problem_extents(c.kind, c.groups, options), distribution, seed, 1);
  return read_problem(random.file("problem", {}));
}

/// One of each loop: a stream of one and of two slabs, batches, clusters in both directions, operands swapped.
inline std::vector<GemmConfig> some_configs(const ProductForm& form, bool f32) {
  std::vector<GemmConfig> configs = {{.step = 8, .tile_m = 128, .tile_n = 32, .cluster_n = 2},
                                     {.step = 8, .tile_m = 256, .tile_n = 16},
                                     {.step = 8, .tile_m = 64, .tile_n = 24, .in_flight = 4},
                                     {.step = 8, .tile_m = 192, .tile_n = 16, .cluster_m = 2},
                                     {.step = 9, .tile_m = 64, .tile_n = 16, .in_flight = 2},
                                     {.step = 9, .tile_m = 128, .tile_n = 24, .cluster_n = 2}};
  for (GemmConfig& config : configs) {
    config.output_f32 = f32;
    config.form = form;
    config.stages = 2;
  }
  return configs;
}

inline RunOptions options_of(const GemmConfig& config, std::uint64_t seed = 1) {
  RunOptions options;
  options.threads = 1;
  options.config = config;
  options.multiprocessors = 4;
  options.schedule = static_cast<machine::Schedule>(seed % 4);
  options.schedule_seed = seed;
  return options;
}

inline std::string refusal(Engine& engine, const Problem& problem, const RunOptions& options) {
  try {
    engine.run(problem, DType::bf16, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace fp8twin::test
