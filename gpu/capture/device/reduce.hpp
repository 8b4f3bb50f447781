// Reductions to global memory on the card: every pair added in five ways, and each result held against an integer oracle.
//
//   reduce_prepare   the element of memory into results [way][pair]; the two plain additions at once
//   reduce_add       a block for each box: the added elements into shared memory, then TMA; red and atom, thread by thread
//   reduce_check     counts what differs from the oracle, by way and rule; checksums
//
// Three launches, since what ordinary stores wrote TMA sees without a fence only in the next kernel.
#pragma once

#include "gpu/capture/device/reduce_oracle.hpp"
#include "gpu/capture/device/reduce_pairs.hpp"
#include "gpu/capture/device/reduce_records.hpp"
#include "gpu/ptx/bar.hpp"
#include "gpu/ptx/cp_async_bulk_tensor.hpp"
#include "gpu/ptx/cp_reduce_async_bulk_tensor.hpp"
#include "gpu/ptx/fence.hpp"
#include "gpu/ptx/ld_st.hpp"
#include "gpu/ptx/shared_memory.hpp"
#include "gpu/ptx/special_registers.hpp"

namespace fp8twin::capture {

FP8TWIN_DEVICE ReducePair reduce_pair(const ReduceArguments& g, u32 i) {
  if (g.table) return {reduce_specials[i / reduce_special_count], reduce_specials[i % reduce_special_count]};
  return drawn_pair(g.seed, g.first + i);
}

FP8TWIN_DEVICE u32 add_rn_bits(u32 a, u32 b) {
  u32 sum;
  asm volatile("{.reg .f32 a, b; mov.b32 a, %1; mov.b32 b, %2; add.rn.f32 a, a, b; mov.b32 %0, a;}"
               : "=r"(sum)
               : "r"(a), "r"(b));
  return sum;
}

FP8TWIN_DEVICE u32 add_rn_ftz_bits(u32 a, u32 b) {
  u32 sum;
  asm volatile("{.reg .f32 a, b; mov.b32 a, %1; mov.b32 b, %2; add.rn.ftz.f32 a, a, b; mov.b32 %0, a;}"
               : "=r"(sum)
               : "r"(a), "r"(b));
  return sum;
}

FP8TWIN_DEVICE void red_global_add(u32* address, u32 value) {
  asm volatile("{.reg .f32 v; mov.b32 v, %1; red.global.add.f32 [%0], v;}" ::"l"(address), "r"(value)
               : "memory");
}

/// What was there before, so that the instruction cannot become a red.
FP8TWIN_DEVICE u32 atom_global_add(u32* address, u32 value) {
  u32 before;
  asm volatile("{.reg .f32 v; mov.b32 v, %2; atom.global.add.f32 v, [%1], v; mov.b32 %0, v;}"
               : "=r"(before)
               : "l"(address), "r"(value)
               : "memory");
  return before;
}

template <class Config>
FP8TWIN_DEVICE void reduce_prepare(Config, const ReduceArguments& g) {
  const u32 i = ctaid_x() * reduce_threads + tid_x();
  if (i >= g.pairs) return;
  const ReducePair pair = reduce_pair(g, i);
  for (const u32 way : {way_tma, way_red, way_atom}) g.results[u64{way} * g.pairs + i] = pair.memory;
  g.results[u64{way_add} * g.pairs + i] = add_rn_bits(pair.memory, pair.value);
  g.results[u64{way_add_ftz} * g.pairs + i] = add_rn_ftz_bits(pair.memory, pair.value);
}

template <class Config>
FP8TWIN_DEVICE void reduce_add(Config, const ReduceArguments& g) {
  const u32 tile = dynamic_shared();
  for (u32 i = tid_x(); i < reduce_box; i += reduce_threads) {
    const u32 at = ctaid_x() * reduce_box + i;
    const ReducePair pair = reduce_pair(g, at);
    st_shared_u32(box_element_address(g.box, tile, i % reduce_columns, i / reduce_columns), pair.value);
    red_global_add(g.results + u64{way_red} * g.pairs + at, pair.value);
    u32* const atom = g.results + u64{way_atom} * g.pairs + at;
    if (atom_global_add(atom, pair.value) != pair.memory)
      *atom = 0xdeadbeef;  // never: a mismatch that is seen
  }
  fence_proxy_async_shared_cta();
  bar_sync(0, reduce_threads);
  if (tid_x() != 0) return;
  cp_reduce_async_bulk_tensor_2d_add_global_shared(g.map, g.x,
                                                   g.y + static_cast<i32>(ctaid_x() * reduce_rows), tile);
  cp_async_bulk_commit_group();
  cp_async_bulk_wait_group<0>();
}

/// A grid of any size: each thread adds up what it counted, and adds to the counts once.
template <class Config>
FP8TWIN_DEVICE void reduce_check(Config, const ReduceArguments& g) {
  ReduceCounts mine = {};
  for (u32 i = ctaid_x() * reduce_threads + tid_x(); i < g.pairs; i += nctaid_x() * reduce_threads) {
    const ReducePair pair = reduce_pair(g, i);
    const bool nan = oracle_sum(pair.memory, pair.value, 0) == oracle_nan;
    ++mine.pairs;
    mine.nan_pairs += nan;
    u32 expected[reduce_rules];
    FP8TWIN_UNROLL
    for (u32 rule = 0; rule < reduce_rules; ++rule)
      expected[rule] = oracle_sum(pair.memory, pair.value, rule);
    FP8TWIN_UNROLL
    for (u32 way = 0; way < reduce_ways; ++way) {
      const u32 result = g.results[u64{way} * g.pairs + i];
      mine.checksum[way] += reduce_term(g.first + i, result);
      mine.nan_differing[way] += nan && result != oracle_nan;
      FP8TWIN_UNROLL
      for (u32 rule = 0; rule < reduce_rules; ++rule)
        mine.differing[way][rule] += !nan && result != expected[rule];
    }
  }
  const u64* from = reinterpret_cast<const u64*>(&mine);
  u64* const to = reinterpret_cast<u64*>(g.counts);
  FP8TWIN_UNROLL
  for (u32 i = 0; i < sizeof(ReduceCounts) / sizeof(u64); ++i) atomicAdd(to + i, from[i]);
}

}  // namespace fp8twin::capture
