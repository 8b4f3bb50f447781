// From `random`'s options to the extents of a problem: what --m, --k, --groups and --max-m mean for each kind.
//
//   kind         --groups 200,0,56,192                  --m                       --k
//   contiguous   rows of each group, padded to 128       derived: 640, or more     needed
//   masked       rows used of each group                 room, as --max-m          needed
//   k-grouped    K of each group                         needed                    derived: 448
//   batched      (one number) how many                   needed                    needed
//
// Without --groups there is one group, of M rows (k-grouped: of length K).
//
// --gaps 0,2,1 (contiguous) puts whole blocks of 128 padding rows before each group, a last number more after all of them:
//
//   --groups 200,56 --gaps 1,0,2       128 of padding | 200 + 56 of padding | 56 + 72 of padding | 256 of padding
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/model/problem.hpp"

namespace fp8twin::cli {

inline constexpr std::int64_t largest_extent = 0x7fffffff;  // as read_problem has it
inline constexpr std::int64_t not_given = -1;

/// What rows hold that no result depends on: padding of contiguous groups, rows past a mask.
enum class Padding { random, nan, zero };

/// Throws Error that lists the names.
Padding padding_from_name(const std::string& name);
std::string_view padding_name(Padding padding);

struct ExtentOptions {
  std::int64_t m = not_given, n = not_given, k = not_given, max_m = not_given;
  bool with_c = false;
  std::string gaps, padding, b_block;  // as typed; "": not given
  bool group_ends = false;
};

struct ProblemExtents {
  Kind kind;
  std::int64_t m = 0, n = 0, k = 0, groups = 1;
  std::vector<std::int32_t> m_indices, group_ends, masked_m, k_sizes;
  bool with_c = false;
  std::int64_t b_scale_rows = 128;  // or 1: a scale for each row of B
  Padding padding = Padding::random;

  std::int64_t k_blocks() const;
  /// Rows [first, end) of A, all groups' after one another, that no result depends on.
  std::vector<std::pair<std::int64_t, std::int64_t>> padding_rows() const;
};

/// Throws Error, naming the option and what the kind needs.
ProblemExtents problem_extents(const std::string& kind, const std::string& groups,
                               const ExtentOptions& options);

}  // namespace fp8twin::cli
