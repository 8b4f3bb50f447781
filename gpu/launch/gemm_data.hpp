// Host arrays of a problem, as they go to a launch and come back from it: on the emulated machine and on the card.
//
//   a, b      rows of k codes        ->  rows of plan.a_stride bytes     (TMA's 16-byte rule; what is added is zero)
//   scales    [rows, k blocks]       ->  from step 8 on transposed, [k blocks][rows of each group rounded up to 4]: of A, and of
//                                      1D1D's B
//   d         rows of n elements     <-  rows of plan.d_stride elements
//
// Groups along K are moved apart so that each begins with a K block of its own, and takes one at least:
//
//   a         | g0: 200 | g1: 0 | g2: 56 |    ->    | g0: 200, 56 zeros | 128 zeros | g2: 56, 72 zeros |
//   scales    |  s  s   |       |   s    |    ->    |    s       s      |     0     |         s        |
#pragma once

#include <span>
#include <vector>

#include "gpu/launch/plan.hpp"

namespace fp8twin {

/// As the problem has them: rows not padded, groups one after the other (groups.hpp has the rows of each array).
struct GemmOperands {
  std::span<const u8> a;           // [rows, k]
  std::span<const float> a_scale;  // [rows, k blocks]
  std::span<const u8> b;           // [rows, k]
  std::span<const float> b_scale;  // [ceil(n/128), k blocks] of each group; 1D1D: [rows, k blocks]
  std::span<const float> c = {};   // like d, where the product's form accumulates
  // masked: the counts; contiguous: the group of each row, or with by_ends where each group ends
  std::span<const i32> groups = {};
  bool by_ends = false;
};

/// The same as a launch takes them.
struct ArrangedOperands {
  std::vector<u8> a, b;
  std::vector<float> a_scale, b_scale;
  std::vector<u8> d;             // as it is before the launch: 0xff, a NaN in either format; or c
  std::vector<float> c;          // with rows of d_stride, where d is BF16 and accumulates
  std::vector<u32> group_words;  // masked, contiguous: what the product's array of groups holds
  std::vector<u32> group_table;  // groups.hpp; of contiguous groups zeros, which find_groups fills in
};

struct GemmResult {
  std::vector<u8> d;       // elements of 2 bytes (BF16) or 4, rows not padded; rows past a mask are zero
  std::vector<u32> trace;  // plan.trace() says what is where; empty without config.trace
};

/// Throws Error unless D [m,n] has tile tile_m,tile_n: counted from 0 along M and along N, in config.rows_of_d() and
/// config.columns_of_d().
void check_trace_tile(const GemmConfig& config, i64 m, i64 n, i64 tile_m, i64 tile_n);

/// Throws Error unless the spans have the sizes that the plan's extents say, and the traced tile is one of its group's.
void check_operands(const LaunchPlan& plan, const GemmOperands& operands, const TraceArguments& trace);

ArrangedOperands arranged(const LaunchPlan& plan, const GemmOperands& operands);

/// [groups, rows, k_blocks] turned into [k_blocks][stride], in which each group has scale_rows(rows) places.
std::vector<float> transposed_scales(std::span<const float> scales, u64 groups, u64 rows, u64 k_blocks,
                                     u64 stride);
/// a_scale of one product as the kernel reads it: as it is, or from step 8 on transposed, [k_blocks][plan.a_scale_stride].
std::vector<float> arranged_scales(const LaunchPlan& plan, std::span<const float> a_scale);

/// `rows` rows of `width` bytes, put `stride` apart.
std::vector<u8> padded_rows(std::span<const u8> bytes, u64 rows, u64 width, u64 stride);

/// The inverse: `rows` rows of `width` bytes that lie `stride` apart.
std::vector<u8> cropped_rows(std::span<const u8> bytes, u64 rows, u64 width, u64 stride);

/// d as the kernel left it, without padding. Rows past a mask, which no kernel may write, were 0xff before the launch: throws
/// Error where one is not, and hands them back as zeros.
std::vector<u8> result_of(const LaunchPlan& plan, const GemmOperands& operands, std::span<const u8> d);

}  // namespace fp8twin
