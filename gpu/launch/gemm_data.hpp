// Host arrays of one 1D2D problem, as they go to a launch and come back from it: on the emulated machine and on the card.
//
//   a, b      rows of k codes        ->  rows of plan.a_stride bytes     (TMA's 16-byte rule; what is added is zero)
//   d         rows of n elements     <-  rows of plan.d_stride elements
#pragma once

#include <span>
#include <vector>

#include "gpu/launch/plan.hpp"

namespace fp8twin {

/// As the problem has them: rows not padded.
struct GemmOperands {
  std::span<const u8> a;           // [m, k]
  std::span<const float> a_scale;  // [m, ceil(k/128)]
  std::span<const u8> b;           // [n, k]
  std::span<const float> b_scale;  // [ceil(n/128), ceil(k/128)]
};

struct GemmResult {
  std::vector<u8> d;       // [m, n] elements of 2 bytes (BF16) or 4, rows not padded
  std::vector<u32> trace;  // plan.trace() says what is where; empty without config.trace
};

/// Throws Error unless D [m,n] has tile tile_m,tile_n: counted from 0 along M and along N, in config.rows_of_d() and
/// config.columns_of_d().
void check_trace_tile(const GemmConfig& config, i64 m, i64 n, i64 tile_m, i64 tile_n);

/// Throws Error unless the spans have the sizes that the plan's extents say, and the traced tile is one of D's.
void check_operands(const LaunchPlan& plan, const GemmOperands& operands, u32 trace_tile_m, u32 trace_tile_n);

/// a_scale as the kernel reads it: as it is, or from step 8 on transposed, [k_blocks][plan.a_scale_stride].
std::vector<float> arranged_scales(const LaunchPlan& plan, std::span<const float> a_scale);

/// `rows` rows of `width` bytes, put `stride` apart.
std::vector<u8> padded_rows(std::span<const u8> bytes, u64 rows, u64 width, u64 stride);

/// The inverse: `rows` rows of `width` bytes that lie `stride` apart.
std::vector<u8> cropped_rows(std::span<const u8> bytes, u64 rows, u64 width, u64 stride);

}  // namespace fp8twin
