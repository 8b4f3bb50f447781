// The roles of steps 8 and 9: a producer that copies scales too, consumers whose tensor core never waits for an epilogue,
// and for each consumer warpgroup a warp that stores.
//
//   warp 0 of the producer's warpgroup      overlap_producer.hpp    global memory -> ring of K blocks
//   consumer warpgroups                     overlap_consumer.hpp    ring -> products, sums -> staging rows
//   warps 1, 2, 3 of the producer's         overlap_store.hpp       staging rows -> D
//
//   A consumer warpgroup computes one or two slabs of 64 rows. What is stored at a tile's end is stored after the next
//   product has been issued, whatever tile that belongs to: issue needs a stage of the ring, and not the tile.
//
//   in_flight = 1, two slabs: a stream of units (K block, slab) that runs on over the tiles
//     tensor core   | K, slab 0 | K, slab 1 | next tile, slab 0 | slab 1 ...            K: the tile's last K block
//     threads                    promote 0    promote 1           promote 0
//                                store 0      store 1
//
//   in_flight = 4, narrow tiles: a stage holds four K blocks, each with an accumulator of its own. A product of few columns
//   is mostly latency, of barriers and of itself; four of them have it once.
//     tensor core   | K0 | K1 | K2 | K3 |                    | K4 | ...
//     threads             promote K0  K1  K2  K3              (store the tile before)
//
//   ptxas asks for these shapes: a wgmma in a branch, or an accumulator read in one round of a loop while another's
//   product has come along from the round before, and it serialises the tensor core (C7514, C7518).
//
//   Every element still sees its K blocks in ascending order, one chain of four k32 steps each: the same bits.
//
// Scales of A come with their K block, by TMA, from a transposed array [k_blocks][rows]: a row of a thread would else be
// a sector of 32 bytes for 4. Those of B are one to three floats a K block, the same for all threads (scale_window.hpp); where
// B has one for each row (1D1D), they come as A's do (column_scales.hpp).
//
// The products may be many: groups.hpp says which, and tile_walk.hpp in which order.
#pragma once

#include "gpu/kernels/overlap_consumer.hpp"
#include "gpu/kernels/overlap_producer.hpp"
#include "gpu/kernels/overlap_store.hpp"
#include "gpu/kernels/roles.hpp"

namespace fp8twin {

/// All threads of the block, or of the cluster.
template <class Config>
FP8TWIN_DEVICE void meet(Config config) {
  if (cluster_size(config) > 1) {
    meet_after_init();
  } else {
    bar_sync(0, warpgroup + consumer_threads(config));
  }
}

/// The whole kernel, for steps 8 and 9.
template <class Config>
FP8TWIN_DEVICE void gemm_overlapped(Config config, const TmaGemmArguments& arguments) {
  // Out of a shuffle, which the compiler cannot do again: it would else make the base anew in the loop, between a turn and its
  // product, out of a special register (4% of the time).
  const u32 base = 1024 * shfl_sync_idx_b32(shared_base() / 1024, 0, full_warp);
  const SharedLayout shared = shared_layout(config, base, Beside::slabs_and_scales);

  if (tid_x() == 0) {
    init_staging_barriers(shared);
    init_barriers(shared, cluster_size(config) * consumer_threads(config) / 32);
  }
  if (tid_x() == 32) {
    prefetch_tensormap(arguments.a);
    prefetch_tensormap(arguments.b);
    prefetch_tensormap(arguments.a_scale);
    if (config.b_scale_per_row) prefetch_tensormap(arguments.b_scale);
    prefetch_tensormap(arguments.d);
  }
  meet(config);
  griddepcontrol_wait();  // all above ran under the end of the grid in front
  griddepcontrol_launch_dependents();

  if (tid_x() < warpgroup) {
    give_registers(config);
    const u32 warp = shfl_sync_idx_b32(tid_x() / 32, 0, full_warp);
    if (warp == 0) {
      if (elect_sync(full_warp)) produce_with_scales(config, arguments, shared);
    } else if (warp <= consumer_threads(config) / warpgroup) {
      store_staged(config, arguments, shared, warp - 1);
    }
    bar_warp_sync(full_warp);
  } else {
    const u32 thread = tid_x() - warpgroup;
    const u32 number = shfl_sync_idx_b32(thread / warpgroup, 0, full_warp);
    Consumer<Config> consumer = {config, arguments, shared, number, thread % warpgroup};
    take_registers(config);
    consumer.begin();
    consume_overlapped(consumer);
  }
}

}  // namespace fp8twin
