// What the capture `reduce` hands to its kernels: one struct that both sides read.
//
//   results [ways][pairs]   before: the pair's element of memory; after: what each way of adding left there
//
// The tensor is results of the first way as rows of 32 columns; a box is 64 of its rows.
#pragma once

#include "emulator/layout/tensor_map.hpp"

namespace fp8twin::capture {

/// The ways to add, in the order of their names in reduce.cpp.
enum ReduceWay : u32 { way_tma, way_add, way_add_ftz, way_red, way_atom, reduce_ways };

inline constexpr u32 reduce_columns = 32, reduce_rows = 64, reduce_box = reduce_columns * reduce_rows;
inline constexpr u32 reduce_threads = 256;

/// The oracle's rules: bit 0 flushes a subnormal element of memory to a zero of its sign, bit 1 the added one, bit 2 the result.
inline constexpr u32 reduce_rules = 8;

/// What was counted over all pairs.
struct ReduceCounts {
  u64 pairs, nan_pairs;  // nan_pairs: those whose sum is NaN; only nan_differing looks at them
  u64 differing[reduce_ways][reduce_rules];  // of the others: results that are not the oracle's
  u64 nan_differing[reduce_ways];            // results that are not 0x7fffffff
  u64 checksum[reduce_ways];
};

struct ReduceArguments {
  TensorMap map;
  TensorMapDescription box;  // as encoded in map: the kernel fills shared memory by it
  u32* results;
  ReduceCounts* counts;
  u64 seed, first;  // pairs first .. first + pairs - 1 of the seed
  u32 pairs;        // a multiple of reduce_box
  u32 table;        // 1: pairs of the table of special values
  i32 x, y;         // where the first block's box begins; each next block's is one box further down
};

}  // namespace fp8twin::capture
