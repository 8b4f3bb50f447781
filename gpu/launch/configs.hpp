// The configurations of the ladder's kernels: what is offered, and what each step can take.
//
//   step                   tile      stages     cluster             threads
//   1 gemm_1_one_tile      64 x N    1          -                   128
//   2 gemm_2_tma           64 x N    1          -                   128
//   3 gemm_3_stages        64 x N    2 and up   -                   128
//   4 gemm_4_specialised   M x N     2 and up   -                   128 + 2 M          M is 64 or 128
//   5 gemm_5_persistent    M x N     2 and up   -                   128 + 2 M          N a multiple of 8 up to 192
//   6 gemm_6_multicast     M x N     2 and up   1x1, 2x1, 1x2       128 + 2 M
//   7 gemm_7_full          M x N     2 and up   1x1, 2x1, 1x2       128 + 2 M
//
// Each step offers a finite list of tiles and clusters: those are compiled for every commit, without spills, and compared
// with the model. Stages are an offset and a loop bound: any number that fits shared memory.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernels/config.hpp"

namespace fp8twin {

inline constexpr int first_step = 1, last_step = 7;
/// Shared memory of a block on SM90.
inline constexpr u32 most_shared_bytes = 227 * 1024;

struct GemmConfig {
  int step = last_step;
  u32 tile_m = 128, tile_n = 128;
  u32 stages = 4;
  u32 cluster_m = 1, cluster_n = 1;
  bool output_f32 = false;
  bool trace = false;

  /// "gemm_7_full_128x128_s4_c2x1_bf16": also the kernel's entry on the card.
  std::string name() const;
  /// The same for a kernel on the emulated machine.
  MachineConfig machine() const;
  u32 threads() const;
  u32 shared_bytes() const;
  friend bool operator==(const GemmConfig&, const GemmConfig&) = default;
};

/// "gemm_1_one_tile" ... "gemm_7_full".
std::string_view step_name(int step);
/// Takes a step's name or its number. Throws Error for anything else.
int step_from_name(std::string_view name);

/// Most stages that fit shared memory beside the rest, 8 at most: more would not help.
u32 most_stages(const GemmConfig& config);

/// Tiles, clusters and outputs of every step, each with its usual number of stages; without trace.
std::vector<GemmConfig> offered_configs();
std::vector<GemmConfig> offered_configs(int step);

/// Throws Error with one sentence when the step does not offer the configuration.
void check_offered(const GemmConfig& config);

/// What a step uses when nothing is asked for: a sane tile for the shape.
GemmConfig default_config(int step, i64 m, i64 n, bool output_f32, u32 multiprocessors);

}  // namespace fp8twin
