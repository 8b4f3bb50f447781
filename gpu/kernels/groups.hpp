// Grouped products: many GEMMs in one launch, for mixtures of experts and for weight gradients.
//
//   grouping     A, scales of A     B, scales of B   D               group_table, of 32-bit words
//   none         [m]                [n]              [m]             -
//   batched      [groups m]         [groups n]       [groups m]      -
//   masked       [groups m]         [groups n]       [groups m]      [groups]        rows that count, the first of m
//   contiguous   [m]                [groups n]       [m]             [groups][2]     first row, and the one after the last
//   along_k      [m]                [n]              [groups m]      [groups][2]     first K block, and their number
//
//   (rows of each; K is the other dimension of A and B, and n of D; scales of m or n rows take the next multiple of four)
//   along_k is the kind k-grouped of problem files
//
// A group's tiles are counted from its own first row, so no tile and no cluster ever holds rows of two groups that count:
// what a tile loads past its group's end is somebody else's, and is multiplied for nothing, since a row of D depends on one
// row of A. It is not stored.
//
//   rows of D    | group 0, 200 rows | padding |      group 1 ...
//   slabs of 64  |  64 |  64 |  64 | 8 ...     |  64 |
//                   TMA   TMA   TMA  |-- these eight rows one by one (store_rows.hpp)
//
// Rows past a group's end are not written. A walk over tiles, tile_walk.hpp, takes the groups in turn.
#pragma once

#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/machine.hpp"

namespace fp8twin {

/// One product: where its operands begin, and its extents.
struct Group {
  u32 a_row, b_row, d_row;       // of the arrays that hold all groups
  u32 a_scale_row, b_scale_row;  // of the scales of rows
  u32 rows;                      // of A and D that count
  u32 k_block, k_blocks;         // the first, and how many
};

/// Scales of m or n rows take this many places: the next group's begin on 16 bytes, as TMA wants it.
constexpr u32 scale_rows(u32 rows) { return (rows + 3) / 4 * 4; }

template <class Config>
FP8TWIN_DEVICE Group group_at(Config config, const GemmArguments& g, u32 number) {
  Group group = {0, 0, 0, 0, 0, g.m, 0, k_blocks_of(g)};
  if (config.grouping == Grouping::none) return group;
  if (config.grouping == Grouping::along_k) {
    group.d_row = number * g.m;
    group.k_block = ld_global_u32(g.group_table + 2 * number);
    group.k_blocks = ld_global_u32(g.group_table + 2 * number + 1);
    return group;
  }
  group.b_row = number * g.n;
  group.b_scale_row = number * scale_rows(g.n);
  if (config.grouping == Grouping::contiguous) {
    group.a_row = group.d_row = group.a_scale_row = ld_global_u32(g.group_table + 2 * number);
    group.rows = ld_global_u32(g.group_table + 2 * number + 1) - group.a_row;
    return group;
  }
  group.a_row = group.d_row = number * g.m;
  group.a_scale_row = number * scale_rows(g.m);
  if (config.grouping == Grouping::masked) group.rows = ld_global_u32(g.group_table + number);
  return group;
}

/// Rows of b_scale before those of a group, where one row of it serves 128 of B.
template <class Config>
FP8TWIN_DEVICE u32 first_b_scale_row(Config config, const GemmArguments& g, u32 number) {
  return config.grouping == Grouping::along_k ? 0 : number * ((g.n + 127) / 128);
}

}  // namespace fp8twin
