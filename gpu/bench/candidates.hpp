// Which configurations the tuner tries, and configurations by name.
//
//   all                                   every step
//   7, gemm_7_full                        one step
//   gemm_7_full_128x128_s4_c2x1_bf16,...  these: as GemmConfig::name() prints them, with any number of stages that fits
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/bench/shapes.hpp"
#include "gpu/launch/plan.hpp"

namespace fp8twin::bench {

/// The inverse of GemmConfig::name(). Throws Error for a name that no configuration has, or one that is not accepted.
GemmConfig config_from_name(std::string_view name);

/// What is worth trying for a shape: all that the step accepts with BF16 output; from step 8 on, less tiles that waste rows.
std::vector<GemmConfig> candidates(i64 m, i64 n, i64 k, int step);

/// What --configs means for a shape.
std::vector<GemmConfig> selected_configs(std::string_view selection, const Shape& shape);

/// The configuration that fp8twin uses for a shape when nobody chooses another.
GemmConfig chosen_config(const Shape& shape, u32 multiprocessors);

/// How a plan's tiles fill the card.
struct Tiling {
  u64 tiles = 0;
  double waves = 0;       // clusters over those that run at a time
  double efficiency = 0;  // elements of D over elements of all tiles
};
Tiling tiling_of(const LaunchPlan& plan, u32 resident_clusters);

}  // namespace fp8twin::bench
