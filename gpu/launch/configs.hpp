// The configurations of the ladder's kernels: what each step accepts, and what is offered of it.
//
//   step                   tile      stages     cluster             threads
//   1 gemm_1_one_tile      64 x N    1          -                   128
//   2 gemm_2_tma           64 x N    1          -                   128
//   3 gemm_3_stages        64 x N    2 and up   -                   128
//   4 gemm_4_specialised   M x N     2 and up   -                   128 + 2 M          M is 64 or 128
//   5 gemm_5_persistent    M x N     2 and up   -                   128 + 2 M          N a multiple of 8 up to 192
//   6 gemm_6_multicast     M x N     2 and up   1x1, 2x1, 1x2       128 + 2 M
//   7 gemm_7_full          M x N     2 and up   1x1, 2x1, 1x2       128 + 2 M
//   8 gemm_8_overlapped    M x N     2 and up   up to 4 blocks      128 + 2 M / slabs  M is 64, 128, 192 or 256
//   9 gemm_9_swapped       M x N     2 and up   up to 4 blocks      128 + 2 M          M of B's rows x N of A's
//
//   accepted   by rule: what fits the step, a thread's registers and shared memory. Any number of stages that fits.
//   offered    a finite list of those: compiled for every commit, without spills, and compared with the model.
//   candidate  what choose_config() (choose.hpp) chooses from: offered, and measured to be the fastest somewhere.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernels/config.hpp"
#include "gpu/kernels/shared_layout.hpp"
#include "gpu/launch/product.hpp"

namespace fp8twin {

inline constexpr int first_step = 1, last_step = 9;
/// Shared memory of a block on SM90.
inline constexpr u32 most_shared_bytes = 227 * 1024;

struct GemmConfig {
  int step = 7;
  u32 tile_m = 128, tile_n = 128;
  u32 stages = 4;
  u32 cluster_m = 1, cluster_n = 1;
  bool output_f32 = false;
  bool trace = false;
  u32 in_flight = 1;      // from step 8 on: K blocks of a warpgroup on the tensor core at a time
  ProductForm form = {};  // from step 8 on

  /// "gemm_7_full_128x128_s4_c2x1_bf16": also the kernel's entry on the card. From step 8 on with in_flight and form:
  /// "..._p2_bf16_masked_1d1d_plus_c".
  std::string name() const;
  /// Slabs of 64 rows for each consumer warpgroup.
  u32 slabs() const { return tile_m == 256 ? 2 : 1; }
  /// The rows of a tile are B's: it is one of D transposed.
  bool swapped() const { return step == 9; }
  /// Rows and columns of D that a tile covers.
  u32 rows_of_d() const { return swapped() ? tile_n : tile_m; }
  u32 columns_of_d() const { return swapped() ? tile_m : tile_n; }
  /// D leaves through a tensor map.
  bool stores_by_tma() const { return step >= 7; }
  /// A's scales come through a tensor map, transposed.
  bool loads_scales_by_tma() const { return step >= 8; }
  Beside beside() const {
    return step < 7 ? Beside::nothing : step == 7 ? Beside::whole_tile : Beside::slabs_and_scales;
  }
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

/// Most stages that fit shared memory beside the rest; 8 at most, and 16 from step 8 on.
u32 most_stages(const GemmConfig& config);
/// As many of them as the step uses when nothing is asked for.
u32 usual_stages(const GemmConfig& config);

/// Tiles, clusters and outputs of every step that are offered, each with its usual number of stages; without trace.
std::vector<GemmConfig> offered_configs();
std::vector<GemmConfig> offered_configs(int step, const ProductForm& form = {});
/// Every form that a problem may have, the plain one first.
std::vector<ProductForm> product_forms();
/// All that is accepted of a step, likewise.
std::vector<GemmConfig> accepted_configs(int step);
/// The candidates, of steps 8 and 9: those of products with this form that are accepted.
std::vector<GemmConfig> candidate_configs(int step, bool output_f32, const ProductForm& form = {});
/// "none", "batched", "contiguous", "masked", "along_k"
std::string_view grouping_name(Grouping grouping);

/// Throws Error with one sentence when the step does not accept the configuration.
void check_accepted(const GemmConfig& config);
bool is_accepted(const GemmConfig& config);

/// What a step uses when nothing is asked for: a sane tile for the shape.
GemmConfig default_config(int step, const Product& product, bool output_f32, u32 multiprocessors);
inline GemmConfig default_config(int step, i64 m, i64 n, i64 k, bool output_f32, u32 multiprocessors) {
  return default_config(step, Product{.form = {}, .m = m, .n = n, .k = k}, output_f32, multiprocessors);
}

}  // namespace fp8twin
