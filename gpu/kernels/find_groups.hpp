// Before a contiguous grouped GEMM: where each group's rows begin and end, from either way of saying it; and the rows of D
// that belong to no group become zero.
//
//   m_indices    0 0 0 0 ... 0 -1 -1 | 2 2 2 ...        the group of each row, -1 for padding
//   group_ends   200, 200, 451                          where each ends; it begins at the end before, rounded up to 128
//
//   group_table  {0, 200} {0, 0} {256, 451}             first row, and the one after the last; an empty group's is not
//                                                       written: the table begins as zeros
//
// A block for 128 rows: a thread looks at each row's neighbours, then a warp clears the rows of padding. The GEMM behind it
// writes no row that is not a group's, so the two may overlap but for the table.
//
// The host has checked that groups ascend, each in one run that begins on a multiple of 128 rows.
#pragma once

#include "gpu/kernels/config.hpp"
#include "gpu/kernels/machine.hpp"

namespace fp8twin {

struct FindGroupsArguments {
  const u32* m_indices;   // [m], or null
  const u32* group_ends;  // [groups], where there are no m_indices
  u32* group_table;       // [groups][2]
  void* d;  // rows d_pitch bytes apart, a multiple of 16, of which row_bytes, an even number, are the row's
  u64 d_pitch, row_bytes;
  u32 m, groups;
};

inline constexpr u32 no_group = 0xffffffff;

/// The group of a row, or no_group.
FP8TWIN_DEVICE u32 group_of_row(const FindGroupsArguments& a, u32 row) {
  if (a.m_indices != nullptr) return ld_global_u32(a.m_indices + row);
  u32 low = 0, high = a.groups;  // the first group that ends past the row
  while (low < high) {
    const u32 middle = (low + high) / 2;
    if (ld_global_u32(a.group_ends + middle) > row) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == a.groups) return no_group;
  const u32 before = low == 0 ? 0 : ld_global_u32(a.group_ends + low - 1);
  return row >= (before + 127) / 128 * 128 ? low : no_group;
}

template <class Config>
FP8TWIN_DEVICE void find_groups(Config, const FindGroupsArguments& a) {
  const u32 first = ctaid_x() * 128, row = first + tid_x();
  if (row < a.m) {
    const u32 group = group_of_row(a, row);
    if (group != no_group) {
      const bool begins = row == 0 || group_of_row(a, row - 1) != group;
      const bool ends = row + 1 == a.m || group_of_row(a, row + 1) != group;
      if (begins) st_global_u32(a.group_table + 2 * group, row);
      if (ends) st_global_u32(a.group_table + 2 * group + 1, row + 1);
    }
  }
  const u32 warp = tid_x() / 32;
  for (u32 padding = first + 32 * warp; padding < first + 32 * warp + 32 && padding < a.m; ++padding) {
    if (group_of_row(a, padding) != no_group) continue;
    u16* to = static_cast<u16*>(a.d) + padding * (a.d_pitch / 2);
    const u64 end = a.row_bytes / 2, whole = end / 8 * 8;  // in words of 16 bits
    for (u64 i = 8 * laneid(); i < whole; i += 8 * 32) st_global_v4_u32(to + i, {});
    for (u64 i = whole + laneid(); i < end; i += 32) st_global_u16(to + i, 0);
  }
}

}  // namespace fp8twin
