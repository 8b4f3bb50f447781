// Which configuration for which shape: a model of a GEMM's time, and the least of it over the candidates of configs.hpp.
//
//   blocks     ceil(clusters of tiles / clusters that run at a time) = waves; a block computes a tile of each wave
//   time   =   start  +  | memory, caches, max(copies into shared memory, products and stores) |  +  last store  +  waits
//                        '-- whichever is the longest; two that are about as long lengthen each other: the 4-norm --'
//
//   memory     A, B and D once, at the speed of a stream; a second row of tiles reads B again a moment too late
//   caches     what blocks read, out of the L2 cache; what a cluster shares, once
//   copies     bytes of the tiles of a K block, into one multiprocessor, for each K block of each wave
//   products   of one consumer warpgroup, one after the other: product, promotion (in_flight products are under way at a time)
//              of several, or of two slabs: promotion hides under another's product, and the clock falls under the load
//   stores     a tile's end, for each wave but the last: under the copies for the next tile
//   waits      a batch's barriers; TMA's fill of rows past the end of A with zeros, which few rows feel
//
// The constants are a fit to measured times of candidates on an H200 (132 multiprocessors, 1.755 GHz), 26 shapes with M = 1 to
// 8192. On the benchmark's 44 shapes the choice is 0.7% slower than the fastest candidate measured (geometric mean; 7% at most),
// and its estimate is off by 6% (rms). A measurement says more: fp8twin-tune makes one; with --estimate it prints this model.
//
// Modelled: whole waves, tails, clusters. Not modelled: the order of tiles, K beyond whole batches, other clocks and memories.
#pragma once

#include <string>

#include "gpu/launch/configs.hpp"

namespace fp8twin {

/// Microseconds, and what they come of.
struct Estimate {
  u64 clusters = 0, resident = 0, waves = 0;
  double start = 0, memory = 0, caches = 0, copies = 0, products = 0, stores = 0, last_store = 0, waits = 0;
  double total = 0;
};

/// What a product costs in a configuration of step 8 or 9 that fits the multiprocessors.
Estimate estimate(const Product& product, const GemmConfig& config, u32 multiprocessors);

/// Of all candidates the one with the least estimate; the first of several. Any m, n, k >= 0, any multiprocessors >= 1.
GemmConfig choose_config(const Product& product, bool output_f32, u32 multiprocessors);
/// The same of step 8's, or of step 9's.
GemmConfig choose_config(int step, const Product& product, bool output_f32, u32 multiprocessors);

// The same for one product, 1D2D.
inline Estimate estimate(i64 m, i64 n, i64 k, const GemmConfig& config, u32 multiprocessors) {
  return estimate(Product{.form = {}, .m = m, .n = n, .k = k}, config, multiprocessors);
}
inline GemmConfig choose_config(i64 m, i64 n, i64 k, bool output_f32, u32 multiprocessors) {
  return choose_config(Product{.form = {}, .m = m, .n = n, .k = k}, output_f32, multiprocessors);
}
inline GemmConfig choose_config(int step, i64 m, i64 n, i64 k, bool output_f32, u32 multiprocessors) {
  return choose_config(step, Product{.form = {}, .m = m, .n = n, .k = k}, output_f32, multiprocessors);
}

/// One sentence: how many waves, how long, and what bounds it.
std::string why(const Estimate& estimate);

}  // namespace fp8twin
