// Probes: what a kernel tells of its inside, at the same points on the card and on the emulated machine.
//
//   tile landed  ->  after each k32 step  ->  after each K block (promoted)  ->  output
//
// Only the block that computes the traced tile writes, each consumer thread its own share. Without config.trace every
// probe folds to nothing on the card. With it each k32 step is committed and waited for on its own (multiply.hpp): the
// bits are the same, the time is not.
#pragma once

#include "emulator/layout/fragment.hpp"
#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/tile.hpp"
#include "gpu/kernels/trace_layout.hpp"

namespace fp8twin {

template <class Config>
struct Probe {
  Config config;
  TraceLayout layout;
  void* words;
  u32 thread;  // among the consumers
  bool on;

  /// A and B of K block `block`, as TMA (or the threads) left them in shared memory.
  FP8TWIN_DEVICE void tiles(u32 block, u32 a_tile, u32 b_tile) const {
    if (!config.trace || !on) return;
    copy_words(layout.a_tile(block), a_tile, config.tile_m * (k_block / 4));
    copy_words(layout.b_tile(block), b_tile, config.tile_n * (k_block / 4));
  }

  FP8TWIN_DEVICE void accumulator(u32 block, u32 step, Accumulator<Config::width>& p) const {
    if (!config.trace || !on) return;
    float* at =
        static_cast<float*>(words) + layout.accumulator(block, step) + layout.fragment_word(thread, 0);
    FP8TWIN_UNROLL
    for (u32 i = 0; i < config.tile_n / 2; ++i) st_global_f32(at + i, p[i]);
  }

  FP8TWIN_DEVICE void promoted(u32 block, Registers<Config::width>& total) const {
    if (!config.trace || !on) return;
    float* at = static_cast<float*>(words) + layout.promoted(block) + layout.fragment_word(thread, 0);
    FP8TWIN_UNROLL
    for (u32 i = 0; i < config.tile_n / 2; ++i) st_global_f32(at + i, total[i]);
  }

  /// The bits that the epilogue stores, zero where it stores nothing.
  FP8TWIN_DEVICE void output(u32 rows, u32 columns, const Tile& tile, Registers<Config::width>& total) const {
    if (!config.trace || !on) return;
    FP8TWIN_UNROLL
    for (u32 i = 0; i < config.tile_n / 2; ++i) {
      const Coordinate at = accumulator_coordinate(thread, i);
      const u64 word = layout.output() + at.row * config.tile_n + at.column;
      if (tile.row0 + at.row >= rows || tile.column0 + at.column >= columns) {
        st_global_u32(static_cast<u32*>(words) + word, 0);
      } else if (config.output_f32) {
        st_global_f32(static_cast<float*>(words) + word, total[i]);
      } else {
        st_global_u32(static_cast<u32*>(words) + word, cvt_rn_bf16_f32(total[i]));
      }
    }
  }

  FP8TWIN_DEVICE void copy_words(u64 to, u32 from, u32 count) const {
    for (u32 i = thread; i < count; i += layout.threads()) {
      st_global_u32(static_cast<u32*>(words) + to + i, ld_shared_u32(from + 4 * i));
    }
  }
};

template <class Config>
FP8TWIN_DEVICE Probe<Config> probe_of(Config config, const GemmArguments& g, const Tile& tile, u32 thread,
                                      u32 group = 0) {
  return {config, TraceLayout{config.tile_m, config.tile_n, g.trace.k_blocks}, g.trace.words, thread,
          tile.m == g.trace.tile_m && tile.n == g.trace.tile_n && group == g.trace.group};
}

}  // namespace fp8twin
