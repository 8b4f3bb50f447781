#include "gpu/launch/gemm_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

void need(const char* name, u64 found, u64 needed) {
  if (found != needed) throw Error(fmt::format("{} has {} elements: {} are needed", name, found, needed));
}

std::vector<u8> moved_rows(std::span<const u8> bytes, u64 rows, u64 width, u64 from_stride, u64 to_stride) {
  std::vector<u8> moved(rows * to_stride);
  for (u64 row = 0; row < rows; ++row) {
    const std::span<const u8> from = bytes.subspan(row * from_stride, width);
    std::copy(from.begin(), from.end(), moved.begin() + static_cast<std::ptrdiff_t>(row * to_stride));
  }
  return moved;
}

/// K of the problem's arrays, and its K blocks: along K a partial block ends each group, and an empty group has none.
struct FileExtents {
  u64 k = 0, k_blocks = 0;
};

FileExtents file_extents(const LaunchPlan& plan) {
  if (!plan.along_k()) return {plan.k, plan.k_blocks()};
  FileExtents extents;
  for (const i64 size : plan.product.k_sizes) {
    extents.k += static_cast<u64>(size);
    extents.k_blocks += (static_cast<u64>(size) + k_block - 1) / k_block;
  }
  return extents;
}

/// Moves the pieces of each row to where the kernel's arrays have them; `size` is a group's extent in the problem's array and
/// `taken` in the kernel's.
template <class T, class Size, class Taken>
std::vector<T> spread_along_k(const LaunchPlan& plan, std::span<const T> from, u64 rows, u64 width,
                              const Size& size, const Taken& taken) {
  u64 to_width = 0;
  for (const i64 k : plan.product.k_sizes) to_width += taken(k);
  std::vector<T> to(rows * to_width);
  for (u64 row = 0; row < rows; ++row) {
    u64 source = row * width, target = row * to_width;
    for (const i64 k : plan.product.k_sizes) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(source), size(k),
                  to.begin() + static_cast<std::ptrdiff_t>(target));
      source += size(k);
      target += taken(k);
    }
  }
  return to;
}

std::vector<u8> spread_codes(const LaunchPlan& plan, std::span<const u8> codes, u64 rows) {
  return spread_along_k(
      plan, codes, rows, file_extents(plan).k, [](i64 k) { return static_cast<u64>(k); },
      [](i64 k) { return static_cast<u64>(k_block * k_blocks_taken(k)); });
}

std::vector<float> spread_scales(const LaunchPlan& plan, std::span<const float> scales, u64 rows) {
  return spread_along_k(
      plan, scales, rows, file_extents(plan).k_blocks,
      [](i64 k) { return (static_cast<u64>(k) + k_block - 1) / k_block; },
      [](i64 k) { return static_cast<u64>(k_blocks_taken(k)); });
}

u64 b_scale_rows(const LaunchPlan& plan) {
  if (plan.config.form.b_scale_per_row) return plan.b_rows();
  return (u64{plan.n} + 127) / 128 * (plan.along_k() ? 1 : plan.groups);
}

template <class T>
std::vector<u8> bytes_of(std::span<const T> values) {
  const auto* bytes = reinterpret_cast<const u8*>(values.data());
  return {bytes, bytes + values.size_bytes()};
}

std::vector<u32> group_table(const LaunchPlan& plan, std::span<const i32> groups) {
  if (plan.is(Grouping::masked)) return {groups.begin(), groups.end()};
  if (plan.is(Grouping::contiguous)) return std::vector<u32>(2 * std::size_t{plan.groups});
  std::vector<u32> table;
  u32 first = 0;
  for (u32 group = 0; plan.along_k() && group < plan.groups; ++group) {
    table.push_back(first);
    table.push_back(plan.k_blocks_of(group));
    first += plan.k_blocks_of(group);
  }
  return table;
}

}  // namespace

void check_trace_tile(const GemmConfig& config, i64 m, i64 n, i64 tile_m, i64 tile_n) {
  const i64 rows = config.rows_of_d(), columns = config.columns_of_d();
  const i64 tiles_m = (m + rows - 1) / rows, tiles_n = (n + columns - 1) / columns;
  if (tile_m < tiles_m && tile_n < tiles_n) return;
  throw Error(fmt::format(
      "there is no tile {},{}; needed is a tile of D, counted from 0: D is {} x {} and has {} along M and {} "
      "along N, of {} x {}{}",
      tile_m, tile_n, m, n, tiles_m, tiles_n, rows, columns,
      config.swapped() ? fmt::format(" ({}x{} of D transposed)", config.tile_m, config.tile_n) : ""));
}

void check_operands(const LaunchPlan& plan, const GemmOperands& operands, const TraceArguments& trace) {
  const FileExtents file = file_extents(plan);
  need("a", operands.a.size(), plan.a_rows() * file.k);
  need("b", operands.b.size(), plan.b_rows() * file.k);
  need("a_scale", operands.a_scale.size(), plan.a_rows() * file.k_blocks);
  need("b_scale", operands.b_scale.size(), b_scale_rows(plan) * file.k_blocks);
  need("c", operands.c.size(), plan.config.form.accumulate ? u64{plan.d_rows()} * plan.n : 0);
  const bool of_rows = plan.is(Grouping::contiguous) && !operands.by_ends;
  const bool grouped = plan.is(Grouping::masked) || plan.is(Grouping::contiguous);
  need("the array of groups", operands.groups.size(), of_rows ? plan.m : grouped ? plan.groups : 0);
  if (!plan.config.trace) return;
  if (trace.group >= plan.groups) {
    throw Error(fmt::format("there is no group {}; the problem has {}", trace.group, plan.groups));
  }
  if (plan.grid_x == 0) return;
  const std::vector<i64> rows = plan.product.expected_rows();
  check_trace_tile(plan.config, rows[trace.group], plan.n, trace.tile_m, trace.tile_n);
}

ArrangedOperands arranged(const LaunchPlan& plan, const GemmOperands& operands) {
  const GemmConfig& config = plan.config;
  const auto codes = [&](std::span<const u8> from, u64 rows, u64 stride) {
    if (!plan.along_k()) return padded_rows(from, rows, plan.k, stride);
    return padded_rows(spread_codes(plan, from, rows), rows, plan.k, stride);
  };
  const auto scales = [&](std::span<const float> from, u64 groups, u64 rows, u64 stride, bool transposed) {
    std::vector<float> all =
        plan.along_k() ? spread_scales(plan, from, rows) : std::vector<float>(from.begin(), from.end());
    return transposed
               ? transposed_scales(all, groups, rows / std::max<u64>(groups, 1), plan.k_blocks(), stride)
               : all;
  };
  ArrangedOperands to;
  to.a = codes(operands.a, plan.a_rows(), plan.a_stride);
  to.b = codes(operands.b, plan.b_rows(), plan.b_stride);
  to.a_scale = scales(operands.a_scale, plan.has_rooms() ? plan.groups : 1, plan.a_rows(),
                      plan.a_scale_stride, config.loads_scales_by_tma());
  to.b_scale = scales(operands.b_scale, plan.along_k() ? 1 : plan.groups, b_scale_rows(plan),
                      plan.b_scale_stride, config.form.b_scale_per_row);
  if (config.form.accumulate) {
    std::vector<u8> c = padded_rows(bytes_of(operands.c), plan.d_rows(), 4 * u64{plan.n}, 4 * plan.d_stride);
    if (config.output_f32) {
      to.d = std::move(c);
      for (u64 row = 0; row < plan.d_rows(); ++row) {
        std::fill_n(to.d.begin() + static_cast<std::ptrdiff_t>(4 * (row * plan.d_stride + plan.n)),
                    4 * (plan.d_stride - plan.n), u8{0xff});
      }
    } else {
      to.c.resize(c.size() / 4);
      if (!c.empty()) std::memcpy(to.c.data(), c.data(), c.size());
    }
  }
  if (to.d.empty()) to.d.assign(plan.d_bytes(), 0xff);
  to.group_words.assign(operands.groups.begin(), operands.groups.end());
  to.group_table = group_table(plan, operands.groups);
  return to;
}

std::vector<float> transposed_scales(std::span<const float> scales, u64 groups, u64 rows, u64 k_blocks,
                                     u64 stride) {
  std::vector<float> transposed(k_blocks * stride);
  const u64 places = scale_rows(static_cast<u32>(rows));
  for (u64 block = 0; block < k_blocks; ++block) {
    for (u64 group = 0; group < groups; ++group) {
      for (u64 row = 0; row < rows; ++row) {
        transposed[block * stride + group * places + row] = scales[(group * rows + row) * k_blocks + block];
      }
    }
  }
  return transposed;
}

std::vector<float> arranged_scales(const LaunchPlan& plan, std::span<const float> a_scale) {
  if (!plan.config.loads_scales_by_tma()) return {a_scale.begin(), a_scale.end()};
  return transposed_scales(a_scale, 1, plan.m, plan.k_blocks(), plan.a_scale_stride);
}

std::vector<u8> padded_rows(std::span<const u8> bytes, u64 rows, u64 width, u64 stride) {
  return moved_rows(bytes, rows, width, width, stride);
}

std::vector<u8> cropped_rows(std::span<const u8> bytes, u64 rows, u64 width, u64 stride) {
  return moved_rows(bytes, rows, width, stride, width);
}

std::vector<u8> result_of(const LaunchPlan& plan, const GemmOperands& operands, std::span<const u8> d) {
  const u64 width = plan.n * plan.element_bytes(), stride = plan.d_stride * plan.element_bytes();
  const auto untouched = [](std::span<const u8> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](u8 byte) { return byte == 0xff; });
  };
  std::vector<u8> result = cropped_rows(d, plan.d_rows(), width, stride);
  for (u64 row = 0; row < plan.d_rows(); ++row) {
    if (!plan.is(Grouping::masked)) continue;
    const u64 group = row / plan.m, in_group = row % plan.m;
    if (in_group < static_cast<u64>(operands.groups[group])) continue;
    if (!untouched(d.subspan(row * stride, width))) {
      throw Error(fmt::format("the kernel {} has written row {} of group {} of d, past the mask's {}",
                              plan.config.name(), in_group, group, operands.groups[group]));
    }
    std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(row * width), width, u8{0});
  }
  return result;
}

}  // namespace fp8twin
