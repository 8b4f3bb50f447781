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

/// Scales of rows, [k_blocks, rows], in boxes of one K block.
TensorMapDescription scale_map(const LaunchPlan& plan, u32 rows, u64 stride, u32 box_rows) {
  return {.element = TensorElement::f32,
          .rank = 2,
          .size = {std::max(rows, 1u), std::max(plan.k_blocks(), 1u), 1},
          .stride = {4 * stride, 0},
          .box = {box_rows, 1, 1},
          .swizzle = SwizzleMode::none};
}

/// D in panels of 64 rows; where operands are swapped, of all the tile's columns, which are rows of D.
TensorMapDescription output_map(const LaunchPlan& plan) {
  const bool f32 = plan.config.output_f32, swapped = plan.config.swapped();
  const u32 element = f32 ? 4 : 2;
  const SwizzleMode mode = swapped ? SwizzleMode::b128 : panel_mode(plan.config.tile_n * element);
  return {.element = f32 ? TensorElement::f32 : TensorElement::bf16,
          .rank = 2,
          .size = {std::max(plan.n, 1u), std::max(plan.d_rows(), 1u), 1},
          .stride = {plan.d_stride * element, 0},
          .box = {swizzle_width(mode) / element, swapped ? plan.config.tile_n : 64, 1},
          .swizzle = mode};
}

/// What stays in an H200's 60 MB of L2 cache while D and the other operand pass through it (measured).
constexpr u64 resident_bytes = 20'000'000;

/// A group of 2^shift rows of tiles, so that the tiles of one wave read the least of A and B; no more than D has. All rows where
/// A stays in the L2 cache: memory reads B once for each group.
u32 best_raster_shift(const LaunchPlan& plan, u32 rows_of_d, u32 multiprocessors) {
  const GemmConfig& config = plan.config;
  const u32 height = config.cluster_m * config.tile_m, width = config.cluster_n * config.tile_n;
  const u32 rows = config.swapped() ? plan.n : rows_of_d, columns = config.swapped() ? rows_of_d : plan.n;
  const u32 wave = std::max(multiprocessors / (config.cluster_m * config.cluster_n), 1u);
  const auto lines = [&](u32 shift) {
    return (u64{height} << shift) + ((wave + (1u << shift) - 1) >> shift) * u64{width};
  };
  if (columns > width && u64{rows} * plan.k <= resident_bytes) {
    u32 all = 0;
    while ((u64{height} << all) < rows) ++all;
    return all;
  }
  u32 best = 0;
  for (u32 shift = 1; shift <= 5 && (u64{height} << shift) <= u64{rows} + height; ++shift) {
    if (lines(shift) < lines(best)) best = shift;
  }
  return best;
}

/// Clusters of tiles, as many as there can be: where the groups' rows are on the card only, all of the room.
u64 most_clusters(const LaunchPlan& plan) {
  const GemmConfig& config = plan.config;
  const u64 height = config.cluster_m * config.tile_m, width = config.cluster_n * config.tile_n;
  const auto in_rows = [&](u64 rows,
                           u64 more) {  // `more`: groups whose last tile begins past another one's end
    const u64 down = config.swapped() ? (plan.n + height - 1) / height : (rows + height - 1) / height + more;
    const u64 across = config.swapped() ? (rows + width - 1) / width + more : (plan.n + width - 1) / width;
    return down * across;
  };
  if (plan.is(Grouping::contiguous)) return in_rows(plan.m, std::min(plan.m, plan.groups));
  return in_rows(plan.m, 0) * plan.groups;
}

/// Stages of the longest tile.
u64 most_stages_of_a_tile(const LaunchPlan& plan) {
  u32 k_blocks = 0;
  for (u32 group = 0; group < plan.groups; ++group) k_blocks = std::max(k_blocks, plan.k_blocks_of(group));
  return (u64{k_blocks} + plan.config.in_flight - 1) / plan.config.in_flight;
}

void set_grid(LaunchPlan& plan, u32 multiprocessors) {
  const GemmConfig& config = plan.config;
  if (plan.m == 0 || plan.n == 0 || plan.groups == 0) return;
  plan.cluster = config.cluster_m * config.cluster_n;
  const u64 tiles = most_clusters(plan);
  if (tiles > 0x7fffffff) {
    throw Error(fmt::format("D is {} x {}: {} tiles of {}x{} are more than a grid counts", plan.d_rows(),
                            plan.n, tiles, config.tile_m, config.tile_n));
  }
  if (config.step >= 5) {
    if (multiprocessors < plan.cluster) {
      throw Error(fmt::format("a cluster of {} blocks needs as many multiprocessors; found {}", plan.cluster,
                              multiprocessors));
    }
    const u64 clusters = std::min<u64>(tiles, multiprocessors / plan.cluster);
    plan.grid_x = static_cast<u32>(clusters) * plan.cluster;
    plan.grid_y = 1;
    const u64 each = (tiles + clusters - 1) / clusters, stages = most_stages_of_a_tile(plan) * each;
    if (stages > 0xffffffff) {
      throw Error(fmt::format("a block would pass {} stages in {} tiles of {}x{}, more than it counts",
                              stages, each, config.tile_m, config.tile_n));
    }
    return;
  }
  const Raster raster = raster_of(plan.rows(), plan.columns(), config.cluster_m * config.tile_m,
                                  config.cluster_n * config.tile_n);
  plan.grid_x = raster.tiles_m;
  plan.grid_y = raster.tiles_n;
  if (plan.grid_y > 65535) {
    throw Error(fmt::format("N is {}: with tiles of {} columns the grid of {} ends at {}", plan.n,
                            config.tile_n, step_name(config.step), 65535u * config.tile_n));
  }
}

/// Rows of a group with any, on average: what an order of tiles and a cache hint are for.
u32 usual_rows(const Product& product) {
  i64 sum = 0, some = 0;
  for (const i64 rows : product.expected_rows()) {
    sum += rows;
    some += rows > 0;
  }
  return static_cast<u32>(some > 0 ? (sum + some - 1) / some : 0);
}

}  // namespace

u32 LaunchPlan::k_blocks_of(u32 group) const {
  return along_k() ? static_cast<u32>(k_blocks_taken(product.k_sizes[group])) : k_blocks();
}

TraceLayout LaunchPlan::trace(u32 group) const { return {config.tile_m, config.tile_n, k_blocks_of(group)}; }

LaunchPlan plan_gemm(const Product& product, const GemmConfig& config, u32 multiprocessors) {
  LaunchPlan plan;
  plan.config = config;
  plan.config.form = product.form;
  check_accepted(plan.config);
  plan.product = product;
  if (product.groups < 0 || product.groups > most_groups) {
    throw Error(fmt::format("there are {} groups; the kernels take 0 to {}", product.groups, most_groups));
  }
  plan.groups = static_cast<u32>(product.groups);
  i64 k = product.k;
  if (plan.along_k()) {
    k = 0;
    for (const i64 size : product.k_sizes) k += k_block * k_blocks_taken(size);
  }
  plan.m = extent(product.m, "M");
  plan.n = extent(product.n, "N");
  plan.k = extent(k, "K");
  if (plan.has_rooms() || plan.along_k()) {
    extent(product.groups * (product.m + 3), "the number of rows in all groups");
  }
  if (!plan.along_k()) extent(product.groups * (product.n + 3), "the number of rows of B in all groups");
  plan.threads = plan.config.threads();
  plan.shared_bytes = plan.config.shared_bytes();
  plan.a_stride = plan.b_stride = config.step == 1 ? plan.k : std::max<u64>(rounded_up(plan.k, 16), 16);
  plan.d_stride = config.stores_by_tma() ? rounded_up(plan.n, 16 / plan.element_bytes()) : plan.n;
  const bool swapped = config.swapped();
  plan.a = operand_map(swapped ? plan.b_rows() : plan.a_rows(), plan.k, plan.a_stride,
                       config.tile_m / config.cluster_n);
  plan.b = operand_map(swapped ? plan.a_rows() : plan.b_rows(), plan.k, plan.b_stride,
                       config.tile_n / config.cluster_m);
  plan.d = output_map(plan);
  plan.a_scale_stride = std::max(plan.a_scale_places(), 4u);
  plan.b_scale_stride = std::max(plan.b_scale_places(), 4u);
  plan.a_scale =
      scale_map(plan, plan.a_scale_places(), plan.a_scale_stride, a_rows_of_tile(plan.config.machine()));
  plan.b_scale =
      scale_map(plan, plan.b_scale_places(), plan.b_scale_stride, b_rows_of_tile(plan.config.machine()));
  const u32 rows = usual_rows(product);
  plan.raster_shift = best_raster_shift(plan, rows, multiprocessors);
  // One or two rows of tiles read each line of B about at the same time.
  plan.b_once = rows <= 2 * (swapped ? config.cluster_n * config.tile_n : config.cluster_m * config.tile_m);
  set_grid(plan, multiprocessors);
  return plan;
}

LaunchPlan plan_gemm(i64 m, i64 n, i64 k, const GemmConfig& config, u32 multiprocessors) {
  return plan_gemm(Product{.form = {}, .m = m, .n = n, .k = k}, config, multiprocessors);
}

GemmArguments arguments_of(const LaunchPlan& plan, const LaunchPointers& pointers,
                           const TraceArguments& trace) {
  TraceArguments followed = trace;
  if (plan.config.swapped()) std::swap(followed.tile_m, followed.tile_n);
  if (plan.config.trace) followed.k_blocks = plan.k_blocks_of(trace.group);
  return {pointers.a,
          pointers.a_scale,
          pointers.b,
          pointers.b_scale,
          pointers.d,
          plan.m,
          plan.n,
          plan.k,
          static_cast<u32>(plan.d_stride),
          followed,
          plan.b_once,
          plan.raster_shift,
          plan.groups,
          pointers.group_table,
          pointers.c};
}

FindGroupsArguments find_groups_arguments(const LaunchPlan& plan, bool by_ends, const u32* groups,
                                          u32* group_table, void* d) {
  return {by_ends ? nullptr : groups,           by_ends ? groups : nullptr,    group_table, d,
          plan.d_stride * plan.element_bytes(), plan.n * plan.element_bytes(), plan.m,      plan.groups};
}

}  // namespace fp8twin
