#include "gpu/launch/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emulator/support/error.hpp"
#include "gpu/kernels/raster.hpp"
#include "gpu/kernels/shared_layout.hpp"

namespace fp8twin {
namespace {

u32 extent(i64 value, const char* name) {
  if (value < 0 || value > 0x7fffffff - 4096) {  // a tile past the end still has a coordinate
    throw Error(fmt::format("{} is {}: the kernels take 0 to {}", name, value, 0x7fffffff - 4096));
  }
  return static_cast<u32>(value);
}

u64 rounded_up(u64 value, u64 multiple) { return (value + multiple - 1) / multiple * multiple; }

/// E4M3 codes [rows, k], in boxes of 128 columns. An empty K is never copied, but a map needs an extent.
TensorMapDescription operand_map(u32 rows, u32 k, u64 stride, u32 box_rows) {
  return {.element = TensorElement::uint8,
          .rank = 2,
          .size = {std::max(k, 1u), std::max(rows, 1u), 1},
          .stride = {stride, 0},
          .box = {k_block, box_rows, 1},
          .swizzle = SwizzleMode::b128};
}

/// A's scales, [k_blocks, m], in boxes of one K block.
TensorMapDescription scale_map(const LaunchPlan& plan) {
  return {.element = TensorElement::f32,
          .rank = 2,
          .size = {std::max(plan.m, 1u), std::max(plan.k_blocks(), 1u), 1},
          .stride = {4 * plan.a_scale_stride, 0},
          .box = {plan.config.swapped() ? plan.config.tile_n : plan.config.tile_m, 1, 1},
          .swizzle = SwizzleMode::none};
}

/// D in panels of 64 rows; where operands are swapped, of all the tile's columns, which are rows of D.
TensorMapDescription output_map(const LaunchPlan& plan) {
  const bool f32 = plan.config.output_f32, swapped = plan.config.swapped();
  const u32 element = f32 ? 4 : 2;
  const SwizzleMode mode = swapped ? SwizzleMode::b128 : panel_mode(plan.config.tile_n * element);
  return {.element = f32 ? TensorElement::f32 : TensorElement::bf16,
          .rank = 2,
          .size = {std::max(plan.n, 1u), std::max(plan.m, 1u), 1},
          .stride = {plan.d_stride * element, 0},
          .box = {swizzle_width(mode) / element, swapped ? plan.config.tile_n : 64, 1},
          .swizzle = mode};
}

/// What stays in an H200's 60 MB of L2 cache while D and the other operand pass through it (measured).
constexpr u64 resident_bytes = 20'000'000;

/// A group of 2^shift rows of tiles, so that the tiles of one wave read the least of A and B; no more than D has. All rows where
/// A stays in the L2 cache: memory reads B once for each group.
u32 best_raster_shift(const LaunchPlan& plan, u32 multiprocessors) {
  const GemmConfig& config = plan.config;
  const u32 height = config.cluster_m * config.tile_m, width = config.cluster_n * config.tile_n;
  const u32 wave = std::max(multiprocessors / (config.cluster_m * config.cluster_n), 1u);
  const auto lines = [&](u32 shift) {
    return (u64{height} << shift) + ((wave + (1u << shift) - 1) >> shift) * u64{width};
  };
  if (plan.columns() > width && u64{plan.rows()} * plan.k <= resident_bytes) {
    u32 all = 0;
    while ((u64{height} << all) < plan.rows()) ++all;
    return all;
  }
  u32 best = 0;
  for (u32 shift = 1; shift <= 5 && (u64{height} << shift) <= u64{plan.rows()} + height; ++shift) {
    if (lines(shift) < lines(best)) best = shift;
  }
  return best;
}

void set_grid(LaunchPlan& plan, u32 multiprocessors) {
  const GemmConfig& config = plan.config;
  if (plan.m == 0 || plan.n == 0) return;
  plan.cluster = config.cluster_m * config.cluster_n;
  const Raster raster = raster_of(plan.rows(), plan.columns(), config.cluster_m * config.tile_m,
                                  config.cluster_n * config.tile_n);
  const u64 tiles = u64{raster.tiles_m} * raster.tiles_n;
  if (tiles > 0x7fffffff) {
    throw Error(fmt::format("D is {} x {}: {} tiles of {}x{} are more than a grid counts", plan.m, plan.n,
                            tiles, config.tile_m, config.tile_n));
  }
  if (config.step >= 5) {
    if (multiprocessors < plan.cluster) {
      throw Error(fmt::format("a cluster of {} blocks needs as many multiprocessors; found {}", plan.cluster,
                              multiprocessors));
    }
    plan.grid_x = std::min(raster.tiles(), multiprocessors / plan.cluster) * plan.cluster;
    plan.grid_y = 1;
    const u64 each = (tiles + plan.grid_x / plan.cluster - 1) / (plan.grid_x / plan.cluster);
    const u64 stages = each * ((plan.k_blocks() + config.in_flight - 1) / config.in_flight);
    if (stages > 0xffffffff) {
      throw Error(fmt::format("a block would pass {} stages in {} tiles of {}x{}, more than it counts",
                              stages, each, config.tile_m, config.tile_n));
    }
    return;
  }
  plan.grid_x = raster.tiles_m;
  plan.grid_y = raster.tiles_n;
  if (plan.grid_y > 65535) {
    throw Error(fmt::format("N is {}: with tiles of {} columns the grid of {} ends at {}", plan.n,
                            config.tile_n, step_name(config.step), 65535u * config.tile_n));
  }
}

}  // namespace

TraceLayout LaunchPlan::trace() const { return {config.tile_m, config.tile_n, k_blocks()}; }

LaunchPlan plan_gemm(i64 m, i64 n, i64 k, const GemmConfig& config, u32 multiprocessors) {
  check_accepted(config);
  LaunchPlan plan;
  plan.config = config;
  plan.m = extent(m, "M");
  plan.n = extent(n, "N");
  plan.k = extent(k, "K");
  plan.threads = config.threads();
  plan.shared_bytes = config.shared_bytes();
  const u64 element = config.output_f32 ? 4 : 2;
  plan.a_stride = plan.b_stride = config.step == 1 ? plan.k : std::max<u64>(rounded_up(plan.k, 16), 16);
  plan.d_stride = config.stores_by_tma() ? rounded_up(plan.n, 16 / element) : plan.n;
  plan.a = operand_map(plan.rows(), plan.k, plan.a_stride, config.tile_m / config.cluster_n);
  plan.b = operand_map(plan.columns(), plan.k, plan.b_stride, config.tile_n / config.cluster_m);
  plan.d = output_map(plan);
  plan.a_scale_stride = std::max<u64>(rounded_up(plan.m, 4), 4);
  plan.a_scale = scale_map(plan);
  plan.raster_shift = best_raster_shift(plan, multiprocessors);
  // One or two rows of tiles read each line of B about at the same time.
  plan.b_once =
      plan.m <= 2 * (config.swapped() ? config.cluster_n * config.tile_n : config.cluster_m * config.tile_m);
  set_grid(plan, multiprocessors);
  return plan;
}

GemmArguments arguments_of(const LaunchPlan& plan, const u8* a, const float* a_scale, const u8* b,
                           const float* b_scale, void* d, const TraceArguments& trace) {
  TraceArguments followed = trace;
  if (plan.config.swapped()) std::swap(followed.tile_m, followed.tile_n);
  return {a,        a_scale,     b,
          b_scale,  d,           plan.m,
          plan.n,   plan.k,      static_cast<u32>(plan.d_stride),
          followed, plan.b_once, plan.raster_shift};
}

}  // namespace fp8twin
