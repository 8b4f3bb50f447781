// From `random`'s options to the extents of a problem: what --m, --k, --groups and --max-m mean for each kind.
//
//   kind         --groups 200,0,56,192                  --m                       --k
//   contiguous   rows of each group, padded to 128       derived: 640              needed
//   masked       rows used of each group                 room, as --max-m          needed
//   k-grouped    K of each group                         needed                    derived: 448
//   batched      (one number) how many                   needed                    needed
//
// Without --groups there is one group, of M rows (k-grouped: of length K).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/model/problem.hpp"

namespace fp8twin::cli {

inline constexpr std::int64_t largest_extent = 0x7fffffff;  // as read_problem has it
inline constexpr std::int64_t not_given = -1;

struct ExtentOptions {
  std::int64_t m = not_given, n = not_given, k = not_given, max_m = not_given;
  bool with_c = false;
};

struct ProblemExtents {
  Kind kind;
  std::int64_t m = 0, n = 0, k = 0, groups = 1;
  std::vector<std::int32_t> m_indices, masked_m, k_sizes;
  bool with_c = false;

  std::int64_t k_blocks() const;
};

/// Throws Error, naming the option and what the kind needs.
ProblemExtents problem_extents(const std::string& kind, const std::string& groups,
                               const ExtentOptions& options);

}  // namespace fp8twin::cli
