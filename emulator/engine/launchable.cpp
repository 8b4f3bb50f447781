#include "emulator/engine/launchable.hpp"

#include <fmt/core.h>

#include "emulator/number/scale_block.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

Grouping grouping_of(Kind kind) {
  switch (kind) {
    case Kind::batched:
      return Grouping::batched;
    case Kind::contiguous:
      return Grouping::contiguous;
    case Kind::masked:
      return Grouping::masked;
    case Kind::k_grouped:
      return Grouping::along_k;
    default:
      return Grouping::none;
  }
}

std::vector<i64> rows_of_groups(const Problem& problem) {
  std::vector<i64> rows;
  if (problem.kind == Kind::masked) rows.assign(problem.masked_m.begin(), problem.masked_m.end());
  if (problem.kind != Kind::contiguous) return rows;
  rows.resize(static_cast<std::size_t>(problem.groups));
  for (const std::int32_t group : problem.m_indices) {
    if (group >= 0) ++rows[static_cast<std::size_t>(group)];
  }
  i64 end = 0;
  for (std::size_t group = 0; group < problem.group_ends.size(); ++group) {
    const i64 next = problem.group_ends[group];
    if (next != end) rows[group] = next - scale_block * scale_blocks(end);
    end = next;
  }
  return rows;
}

}  // namespace

ProductForm product_form(Kind kind, std::int64_t b_scale_rows, bool has_c) {
  return {.grouping = grouping_of(kind), .b_scale_per_row = b_scale_rows == 1, .accumulate = has_c};
}

Product product_of(const Problem& problem) {
  if (problem.groups > most_groups) {
    throw Error(fmt::format("has {} groups; the kernels take {} at most, engine model any number",
                            problem.groups, most_groups));
  }
  return {.form = product_form(problem.kind, problem.b_scale_rows, problem.has_c),
          .m = problem.m,
          .n = problem.n,
          .k = problem.k,
          .groups = problem.groups,
          .rows = rows_of_groups(problem),
          .k_sizes = {problem.k_sizes.begin(), problem.k_sizes.end()}};
}

GemmOperands operands_of(const Problem& problem) {
  GemmOperands operands{problem.a, problem.a_scale, problem.b, problem.b_scale};
  operands.c = problem.c;
  if (problem.kind == Kind::masked) operands.groups = problem.masked_m;
  if (problem.kind == Kind::contiguous) {
    operands.by_ends = problem.m > 0 && problem.m_indices.empty();  // there may be no group
    operands.groups = operands.by_ends ? problem.group_ends : problem.m_indices;
  }
  return operands;
}

}  // namespace fp8twin
