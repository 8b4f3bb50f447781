// The ring's two sides in steps 8 and 9: a producer that copies scales too, and consumers whose tensor core never waits
// for an epilogue.
//
//   A consumer warpgroup computes one or two slabs of 64 rows. What is stored at a tile's end is stored after the next
//   product has been issued, whatever tile that belongs to: issue needs a stage of the ring, and not the tile.
//
//   in_flight = 1, two slabs: a stream of units (K block, slab) that runs on over the tiles
//     tensor core   | K, slab 0 | K, slab 1 | next tile, slab 0 | slab 1 ...            K: the tile's last K block
//     threads                    promote 0    promote 1           promote 0
//                                store 0      store 1
//
//   in_flight = 4, narrow tiles: batches of four K blocks, each in an accumulator of its own. A product of few columns is
//   mostly latency; four of them have it once.
//     tensor core   | K0 | K1 | K2 | K3 |                    | K4 | ...
//     threads             promote K0  K1  K2  K3              (store the tile before)
//
//   ptxas asks for these shapes: a wgmma in a branch, or an accumulator read in one round of a loop while another's
//   product has come along from the round before, and it serialises the tensor core (C7514, C7518).
//
//   Every element still sees its K blocks in ascending order, one chain of four k32 steps each: the same bits.
//
// Scales of A come with their K block, by TMA, from a transposed array [k_blocks][rows]: a row of a thread would else be
// a sector of 32 bytes for 4. Those of B are one to three floats a K block, the same for all threads: read from global.
#pragma once

#include "gpu/kernels/multicast.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/promotion.hpp"
#include "gpu/kernels/roles.hpp"
#include "gpu/kernels/swapped.hpp"

namespace fp8twin {

/// By one thread.
template <class Config>
FP8TWIN_DEVICE void produce_with_scales(Config config, const TmaGemmArguments& arguments,
                                        const SharedLayout& shared) {
  const Raster raster = cluster_raster(config, arguments.gemm);
  const u32 size = cluster_size(config), rank = cluster_ctarank();
  const u32 scale_bytes = 4 * (config.swapped ? config.tile_n : config.tile_m);
  PipelineState state;
  for (u32 index = ctaid_x() / size; index < raster.tiles(); index += nctaid_x() / size) {
    const Tile tile = cluster_tile(config, raster, index, rank);
    for (u32 block = 0; block < k_blocks_of(arguments.gemm); ++block, state.advance(config.stages)) {
      const u32 full = shared.full(state.stage);
      wait_parity(shared.empty(state.stage), state.phase ^ 1);
      mbarrier_arrive_expect_tx_b64(full, shared.a_bytes + shared.b_bytes + scale_bytes);
      load_k_block_of_cluster(config, arguments, shared, state.stage, tile, block, rank);
      cp_async_bulk_tensor_2d_shared_global(shared.scale_tile(state.stage), arguments.a_scale,
                                            static_cast<i32>(config.swapped ? tile.column0 : tile.row0),
                                            static_cast<i32>(block), full);
    }
  }
  if (size > 1) wait_for_last_releases(shared, state);
}

/// Where a warpgroup is in its stream.
struct StreamPlace {
  PipelineState ring;
  u32 index, block;
  Tile tile;
};

/// One consumer warpgroup.
template <class Config>
struct Consumer {
  Config config;
  const TmaGemmArguments& arguments;
  const SharedLayout& shared;
  Raster raster;
  u32 consumer;  // this thread among the consumers
  u32 k_blocks;
  StreamPlace issued, promoted;

  FP8TWIN_DEVICE u32 size() const { return cluster_size(config); }
  FP8TWIN_DEVICE void go_to(StreamPlace& place, u32 index) const {
    place.index = index;
    place.block = 0;
    if (index < raster.tiles()) place.tile = cluster_tile(config, raster, index, cluster_ctarank());
  }
  /// The slab's number in the tile, and this thread as that slab's: as if each slab had a warpgroup of its own.
  FP8TWIN_DEVICE u32 slab_number(u32 slab) const { return consumer / warpgroup * config.slabs + slab; }
  FP8TWIN_DEVICE u32 slab_thread(u32 slab) const {
    return slab_number(slab) * warpgroup + consumer % warpgroup;
  }
  FP8TWIN_DEVICE Probe<Config> probe(const StreamPlace& place, u32 slab) const {
    return probe_of(config, arguments.gemm, place.tile, slab_thread(slab));
  }

  FP8TWIN_DEVICE bool more_to_issue() const { return issued.index < raster.tiles(); }

  /// The next unit of the stream onto the tensor core.
  FP8TWIN_DEVICE void issue(Accumulator<Config::width>& p, u32 slab) {
    const u32 stage = issued.ring.stage;
    if (slab == 0) wait_parity(shared.full(stage), issued.ring.phase);
    const Probe<Config> at = probe(issued, slab);
    at.tiles(issued.block, shared.a_tile(stage), shared.b_tile(stage));
    issue_k_block(config, p, shared.a_tile(stage) + slab_number(slab) * (64 * k_block), shared.b_tile(stage),
                  at, issued.block);
    if (slab + 1 == config.slabs) {
      issued.ring.advance(config.stages);
      if (++issued.block == k_blocks) go_to(issued, issued.index + nctaid_x() / size());
    }
  }

  /// Until the oldest of the products under way has ended; it is p's.
  FP8TWIN_DEVICE void wait(Accumulator<Config::width>& p, u32 under_way) const {
    if (under_way == 1) wgmma_wait_group<0>(p);
    if (under_way == 2) wgmma_wait_group<1>(p);
    if (under_way == 3) wgmma_wait_group<2>(p);
    if (under_way == 4) wgmma_wait_group<3>(p);
  }

  FP8TWIN_DEVICE float scale_of_b(u32 row) const {
    const u32 blocks = (arguments.gemm.n + 127) / 128;
    return row < blocks ? ld_global_nc_f32(arguments.gemm.b_scale + static_cast<u64>(row) * k_blocks +
                                           promoted.block)
                        : 0;
  }

  /// Waits for one unit, frees its stage after the last slab, and adds it to the slab's total.
  FP8TWIN_DEVICE void promote_unit(Accumulator<Config::width>& p, Registers<Config::width>& total, u32 slab,
                                   u32 under_way) {
    const u32 stage = promoted.ring.stage, scale_tile = shared.scale_tile(stage);
    if (config.swapped) {
      const float scale_b = scale_of_b((promoted.tile.row0 + 64 * slab_number(slab)) / 128);
      wait(p, under_way);
      promote_swapped(config, scale_tile, scale_b, consumer % warpgroup, p, total);
      if (slab + 1 == config.slabs) release_in_cluster(config, shared.empty(stage));
    } else {
      BlockScales scales;
      FP8TWIN_UNROLL
      for (u32 half = 0; half < 2; ++half) {
        scales.a[half] =
            ld_shared_f32(scale_tile + 4 * accumulator_coordinate(slab_thread(slab), 2 * half).row);
      }
      FP8TWIN_UNROLL
      for (u32 i = 0; i < 3; ++i) {
        scales.b[i] =
            i < scale_blocks_met(config.tile_n) ? scale_of_b(promoted.tile.column0 / 128 + i) : 0;
      }
      wait(p, under_way);
      if (slab + 1 == config.slabs) release_in_cluster(config, shared.empty(stage));
      promote(config, promoted.tile, scales, p, total);
    }
    probe(promoted, slab).promoted(promoted.block, total);
  }

  FP8TWIN_DEVICE void store(const StreamPlace& place, Registers<Config::width>& total, u32 slab) const {
    const GemmArguments& g = arguments.gemm;
    const Tile& tile = place.tile;
    const u32 row0 = tile.row0 + 64 * slab_number(slab);
    probe(place, slab).output(config.swapped ? g.n : g.m, config.swapped ? g.m : g.n, tile, total);
    if (config.swapped) {
      store_swapped_slab(config, arguments, shared, tile.column0, row0, consumer, total);
    } else {
      store_slab(config, arguments, shared, row0, tile.column0, consumer, total);
    }
  }

  /// After a unit has been promoted: stores its slab if that was the last K block, and steps on.
  FP8TWIN_DEVICE void finish_unit(Registers<Config::width>& total, u32 slab) {
    if (promoted.block + 1 == k_blocks) {
      store(promoted, total, slab);
      clear(config, total);
    }
    if (slab + 1 == config.slabs) {
      promoted.ring.advance(config.stages);
      if (++promoted.block == k_blocks) go_to(promoted, promoted.index + nctaid_x() / size());
    }
  }

  /// All tiles, one product under way at a time. `total` has one or two slabs, named by constants: else the compiler
  /// keeps an array in memory.
  FP8TWIN_DEVICE void run_stream(Accumulator<Config::width>& p,
                                 RegisterSets<Config::width, Config::sets>& total) {
    const u32 last = config.slabs - 1;
    issue(p, 0);
    for (;;) {
      if (config.slabs == 2) {
        promote_unit(p, total[0], 0, 1);
        issue(p, 1);
        finish_unit(total[0], 0);
      }
      promote_unit(p, total[last], last, 1);
      if (!more_to_issue()) break;
      issue(p, 0);
      finish_unit(total[last], last);
    }
    finish_unit(total[last], last);
  }

  /// All tiles in batches of `in_flight` K blocks; what is left of a tile goes one by one.
  FP8TWIN_DEVICE void run_batches(Accumulators<Config::width, Config::ring>& p,
                                  Registers<Config::width>& total) {
    StreamPlace before = promoted;  // the tile whose sums are complete, and not stored
    before.block = 0;               // ... if k_blocks
    while (more_to_issue()) {
      while (promoted.block + config.in_flight <= k_blocks) {
        FP8TWIN_UNROLL
        for (u32 i = 0; i < config.in_flight; ++i) issue(p[i], 0);
        store_before(before, total);
        FP8TWIN_UNROLL
        for (u32 i = 0; i < config.in_flight; ++i) promote_next(p[i], total, config.in_flight - i);
      }
      while (promoted.block < k_blocks) {
        issue(p[0], 0);
        store_before(before, total);
        promote_next(p[0], total, 1);
      }
      before = promoted;
      go_to(promoted, promoted.index + nctaid_x() / size());
    }
    store_before(before, total);
  }

  FP8TWIN_DEVICE void promote_next(Accumulator<Config::width>& p, Registers<Config::width>& total,
                                   u32 under_way) {
    promote_unit(p, total, 0, under_way);
    promoted.ring.advance(config.stages);
    ++promoted.block;
  }

  FP8TWIN_DEVICE void store_before(StreamPlace& before, Registers<Config::width>& total) const {
    if (before.block == 0) return;
    store(before, total, 0);
    clear(config, total);
    before.block = 0;
  }

  /// K = 0: nothing is issued, and every element is +0.
  FP8TWIN_DEVICE void store_zeros(Registers<Config::width>& total) {
    for (; promoted.index < raster.tiles(); go_to(promoted, promoted.index + nctaid_x() / size())) {
      FP8TWIN_UNROLL
      for (u32 slab = 0; slab < config.slabs; ++slab) store(promoted, total, slab);
    }
  }
};

template <class Config>
FP8TWIN_DEVICE void consume_overlapped(Config config, const TmaGemmArguments& arguments,
                                       const SharedLayout& shared, u32 thread) {
  Consumer<Config> consumer = {config, arguments, shared, cluster_raster(config, arguments.gemm),
                               thread, k_blocks_of(arguments.gemm), {}, {}};
  consumer.go_to(consumer.issued, ctaid_x() / cluster_size(config));
  consumer.go_to(consumer.promoted, ctaid_x() / cluster_size(config));
  RegisterSets<Config::width, Config::sets> total(config.tile_n, config.slabs);
  clear(config, total[0]);
  if (config.slabs == 2) clear(config, total[1]);
  if (consumer.k_blocks == 0) {
    consumer.store_zeros(total[0]);
  } else if (config.in_flight == 1) {
    Accumulator<Config::width> p(config.tile_n);
    consumer.run_stream(p, total);
  } else {
    Accumulators<Config::width, Config::ring> p(config.tile_n, config.in_flight);
    consumer.run_batches(p, total[0]);
  }
  if (thread % warpgroup == 0) cp_async_bulk_wait_group_read<0>();  // D itself is complete when the grid is
  bar_warp_sync(full_warp);
}

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
  const SharedLayout shared = shared_layout(config, shared_base(), Beside::slabs_and_scales);

  if (tid_x() == 0) init_barriers(shared, cluster_size(config) * consumer_threads(config) / 32);
  if (tid_x() == 32) {
    prefetch_tensormap(arguments.a);
    prefetch_tensormap(arguments.b);
    prefetch_tensormap(arguments.a_scale);
    prefetch_tensormap(arguments.d);
  }
  meet(config);
  griddepcontrol_wait();  // all above ran under the end of the grid in front
  griddepcontrol_launch_dependents();

  if (tid_x() < warpgroup) {
    give_registers(config);
    if (tid_x() < 32 && elect_sync(full_warp)) produce_with_scales(config, arguments, shared);
    bar_warp_sync(full_warp);
  } else {
    take_registers(config);
    consume_overlapped(config, arguments, shared, tid_x() - warpgroup);
  }
}

}  // namespace fp8twin
