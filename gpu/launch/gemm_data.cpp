#include "gpu/launch/gemm_data.hpp"

#include <fmt/format.h>

#include <algorithm>

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

void check_operands(const LaunchPlan& plan, const GemmOperands& operands, u32 trace_tile_m,
                    u32 trace_tile_n) {
  const u64 k_blocks = plan.k_blocks(), n_blocks = (u64{plan.n} + 127) / 128;
  need("a", operands.a.size(), u64{plan.m} * plan.k);
  need("b", operands.b.size(), u64{plan.n} * plan.k);
  need("a_scale", operands.a_scale.size(), plan.m * k_blocks);
  need("b_scale", operands.b_scale.size(), n_blocks * k_blocks);
  if (!plan.config.trace || plan.grid_x == 0) return;
  check_trace_tile(plan.config, plan.m, plan.n, trace_tile_m, trace_tile_n);
}

std::vector<float> arranged_scales(const LaunchPlan& plan, std::span<const float> a_scale) {
  if (!plan.config.loads_scales_by_tma()) return {a_scale.begin(), a_scale.end()};
  std::vector<float> transposed(plan.k_blocks() * plan.a_scale_stride);
  for (u32 block = 0; block < plan.k_blocks(); ++block) {
    for (u32 row = 0; row < plan.m; ++row) {
      transposed[block * plan.a_scale_stride + row] = a_scale[u64{row} * plan.k_blocks() + block];
    }
  }
  return transposed;
}

std::vector<u8> padded_rows(std::span<const u8> bytes, u64 rows, u64 width, u64 stride) {
  return moved_rows(bytes, rows, width, width, stride);
}

std::vector<u8> cropped_rows(std::span<const u8> bytes, u64 rows, u64 width, u64 stride) {
  return moved_rows(bytes, rows, width, stride, width);
}

}  // namespace fp8twin
