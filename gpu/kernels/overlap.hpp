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
// a sector of 32 bytes for 4. Those of B are one to three floats a K block, the same for all threads (scale_window.hpp).
#pragma once

#include "gpu/kernels/multicast.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/promotion.hpp"
#include "gpu/kernels/roles.hpp"
#include "gpu/kernels/scale_window.hpp"
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
    for (u32 block = 0; block < k_blocks_of(arguments.gemm);
         block += config.in_flight, state.advance(config.stages)) {
      const u32 full = shared.full(state.stage);
      wait_parity(shared.empty(state.stage), state.phase ^ 1);
      mbarrier_arrive_expect_tx_b64(full, config.in_flight * (shared.a_bytes + shared.b_bytes + scale_bytes));
      FP8TWIN_UNROLL
      for (u32 i = 0; i < config.in_flight; ++i) {  // past K's end zeros arrive, and count
        const u32 slot = state.stage * config.in_flight + i;
        load_k_block_of_cluster(config, arguments, shared, slot, full, tile, block + i, rank);
        cp_async_bulk_tensor_2d_shared_global(shared.scale_tile(slot), arguments.a_scale,
                                              static_cast<i32>(config.swapped ? tile.column0 : tile.row0),
                                              static_cast<i32>(block + i), full);
      }
    }
  }
  if (size > 1) wait_for_last_releases(shared, state);
}

/// Where a warpgroup is in its list of tiles.
struct StreamPlace {
  u32 index, block;
  Tile tile;
};

/// One consumer warpgroup.
///
/// What the loop over K blocks costs beside products and sums decides the speed: two warpgroups hide each other's work only
/// while it takes less time than a product. So addresses are made before the loop, `number` comes out of a shuffle, which
/// tells the compiler that it is the same for the whole warp (descriptors then need no vector registers), and the last
/// K block of a tile, which stores, is a copy of the loop's body.
template <class Config>
struct Consumer {
  Config config;
  const TmaGemmArguments& arguments;
  const SharedLayout& shared;
  Raster raster;
  u32 number, thread;  // of the warpgroup among the consumers, of this thread in it
  u32 k_blocks, stride;
  u32 scale_offset;  // of this thread's first row in a tile of scales
  u32 empty;         // empty[0]: its own, or in a cluster lane r's that of block r
  u32 left;          // stages not issued
  PipelineState issue_ring, ring;
  StreamPlace issued, at, next;  // `issued` is kept for traces only; `next` follows `at`
  ScaleWindow window;
  BlockScales scales;

  FP8TWIN_DEVICE void go_to(StreamPlace& place, u32 index) const {
    place.index = index;
    place.block = 0;
    if (index < raster.tiles()) place.tile = cluster_tile(config, raster, index, cluster_ctarank());
  }
  /// The slab's number in the tile; and this thread as that slab's, as if each slab had a warpgroup of its own.
  FP8TWIN_DEVICE u32 slab_number(u32 slab) const { return number * config.slabs + slab; }
  FP8TWIN_DEVICE Probe<Config> probe(const StreamPlace& place, u32 slab) const {
    return probe_of(config, arguments.gemm, place.tile, slab_number(slab) * warpgroup + thread);
  }

  FP8TWIN_DEVICE void begin() {
    const u32 size = cluster_size(config), first = ctaid_x() / size;
    stride = nctaid_x() / size;
    k_blocks = k_blocks_of(arguments.gemm);
    left = first < raster.tiles() ? (raster.tiles() - first + stride - 1) / stride *
                                        ((k_blocks + config.in_flight - 1) / config.in_flight)
                                  : 0;
    scale_offset = 4 * (64 * slab_number(0) + accumulator_coordinate(thread, 0).row);
    empty = size == 1 ? shared.empty(0) : mapa_shared_cluster_u32(shared.empty(0), laneid() % size);
    go_to(at, first);
    issued = at;
    go_to(next, first + stride);
    if (left > 0) window.fetch(config, arguments.gemm, first_scale_row(at.tile), 0);
  }
  FP8TWIN_DEVICE void next_tile() {
    at = next;
    go_to(next, at.index + stride);
  }

  /// The next unit of the stream onto the tensor core.
  FP8TWIN_DEVICE void issue(Accumulator<Config::width>& p, u32 slab, bool landed = false) {
    const u32 stage = issue_ring.stage, groups = consumer_threads(config) / warpgroup;
    const bool turns = (config.variant & 1) && config.in_flight == 1 && groups > 1;
    if (slab == 0 && !landed) wait_parity(shared.full(stage), issue_ring.phase);
    if (turns) bar_sync(8 + number, 2 * warpgroup);
    issue_slot(p, stage, slab);
    if (slab + 1 == config.slabs) issued_stage();
    if (turns && (number + 1 < groups || slab + 1 < config.slabs || left > 0)) {
      bar_arrive(8 + (number + 1) % groups, 2 * warpgroup);
    }
  }

  FP8TWIN_DEVICE void issue_slot(Accumulator<Config::width>& p, u32 slot, u32 slab) {
    Probe<Config> probes = probe(issued, slab);
    probes.on = probes.on && issued.block < k_blocks;
    probes.tiles(issued.block, shared.a_tile(slot), shared.b_tile(slot));
    issue_k_block(config, p, shared.a_tile(slot) + slab_number(slab) * (64 * k_block), shared.b_tile(slot),
                  probes, issued.block);
    if (config.trace && slab + 1 == config.slabs) ++issued.block;
  }

  FP8TWIN_DEVICE void issued_stage() {
    issue_ring.advance(config.stages);
    --left;
    if (config.trace && issued.block >= k_blocks) go_to(issued, issued.index + stride);
  }

  /// Until the oldest of the products under way has ended; it is p's.
  FP8TWIN_DEVICE void wait(Accumulator<Config::width>& p, u32 under_way) const {
    if (under_way == 1) wgmma_wait_group<0>(p);
    if (under_way == 2) wgmma_wait_group<1>(p);
    if (under_way == 3) wgmma_wait_group<2>(p);
    if (under_way == 4) wgmma_wait_group<3>(p);
    if (under_way == 5) wgmma_wait_group<4>(p);
    if (under_way == 6) wgmma_wait_group<5>(p);
    if (under_way == 7) wgmma_wait_group<6>(p);
    if (under_way == 8) wgmma_wait_group<7>(p);
  }

  /// The scale block of B with which a tile begins.
  FP8TWIN_DEVICE u32 first_scale_row(const Tile& tile) const {
    return (config.swapped ? tile.row0 + 64 * slab_number(0) : tile.column0) / 128;
  }

  /// Before a tile's first K block, and every 32: what comes after is fetched.
  FP8TWIN_DEVICE void turn_window() {
    window.turn(config);
    if (at.block + 32 < k_blocks) {
      window.fetch(config, arguments.gemm, first_scale_row(at.tile), at.block + 32);
    } else {
      window.fetch(config, arguments.gemm, first_scale_row(next.tile), 0);
    }
  }

  /// The scales of the unit that is promoted next, while its product is under way.
  FP8TWIN_DEVICE void load_scales(u32 slot, u32 slab) {
    if (slab == 0) {
      const u32 met = config.swapped ? 1 : scale_blocks_met(config.tile_n);
      FP8TWIN_UNROLL
      for (u32 i = 0; i < met; ++i) scales.b[i] = window.at(i, at.block);
    }
    if (config.swapped) return;
    const u32 from = shared.scale_tile(slot) + scale_offset + 256 * slab;
    scales.a[0] = ld_shared_f32(from);
    scales.a[1] = ld_shared_f32(from + 32);  // eight rows below
  }

  FP8TWIN_DEVICE void release_stage() {
    bar_warp_sync(full_warp);
    if (cluster_size(config) == 1) {
      if (laneid() == 0) mbarrier_arrive_b64(empty + 8 * ring.stage);
    } else if (laneid() < cluster_size(config)) {
      mbarrier_arrive_shared_cluster_b64(empty + 8 * ring.stage);
    }
    ring.advance(config.stages);
  }

  /// Adds a product that has ended to the slab's total.
  FP8TWIN_DEVICE void promote_slot(Accumulator<Config::width>& p, Registers<Config::width>& total, u32 slot,
                                   u32 slab) {
    if (config.swapped) {
      promote_swapped(config, shared.scale_tile(slot), scales.b[0], thread, p, total);
    } else {
      promote(config, at.tile, scales, p, total);
    }
    probe(at, slab).promoted(at.block, total);
    if (slab + 1 == config.slabs) ++at.block;
  }

  /// Waits for one unit, frees its stage after the last slab, and promotes it.
  FP8TWIN_DEVICE void promote_unit(Accumulator<Config::width>& p, Registers<Config::width>& total, u32 slab) {
    const u32 slot = ring.stage;
    if (slab == 0 && at.block % 32 == 0) turn_window();
    load_scales(slot, slab);
    wgmma_wait_group<0>(p);
    if (!config.swapped && slab + 1 == config.slabs) release_stage();
    promote_slot(p, total, slot, slab);
    if (config.swapped) release_stage();  // its scales are read by the promotion
  }

  FP8TWIN_DEVICE void store(const StreamPlace& place, Registers<Config::width>& total, u32 slab) const {
    const GemmArguments& g = arguments.gemm;
    const Tile& tile = place.tile;
    const u32 staged = staged_slabs(config), row0 = tile.row0 + 64 * slab_number(slab);
    const u32 staging = shared.staging() + (number * staged + slab % staged) *
                                               (64 * config.tile_n * (config.output_f32 ? 4 : 2));
    probe(place, slab).output(config.swapped ? g.n : g.m, config.swapped ? g.m : g.n, tile, total);
    if (config.swapped) {
      store_swapped_slab(config, arguments, staging, tile.column0, row0, number, thread, total);
    } else {
      store_slab(config, arguments, staging, row0, tile.column0, number, thread, total);
    }
    clear(config, total);
  }

  FP8TWIN_DEVICE bool next_landed() const {
    return (config.variant & 2) && mbarrier_test_wait_parity_b64(shared.full(issue_ring.stage), issue_ring.phase);
  }

  /// All tiles, one product under way at a time. `total` has one or two slabs, named by constants: else the compiler
  /// keeps an array in memory.
  FP8TWIN_DEVICE void run_stream(Accumulator<Config::width>& p,
                                 RegisterSets<Config::width, Config::sets>& total) {
    const u32 last = config.slabs - 1, groups = consumer_threads(config) / warpgroup;
    if ((config.variant & 1) && groups > 1 && number + 1 == groups) bar_arrive(8, 2 * warpgroup);
    issue(p, 0);
    for (;;) {
      while (at.block + 1 < k_blocks) {
        if (config.slabs == 2) {
          promote_unit(p, total[0], 0);
          issue(p, 1);
        }
        const bool landed = next_landed();
        promote_unit(p, total[last], last);
        issue(p, 0, landed);
      }
      if (config.slabs == 2) {
        promote_unit(p, total[0], 0);
        issue(p, 1);
        store(at, total[0], 0);
      }
      promote_unit(p, total[last], last);
      if (left == 0) break;
      issue(p, 0);
      store(at, total[last], last);
      next_tile();
    }
    store(at, total[last], last);
  }

  /// All tiles, a stage of `in_flight` K blocks at a time. What a stage holds past K's end is multiplied, since a wgmma must
  /// not stand in a branch, and not promoted.
  FP8TWIN_DEVICE void run_batches(Accumulators<Config::width, Config::ring>& p,
                                  Registers<Config::width>& total) {
    StreamPlace before = at;  // the tile whose sums are complete, and not stored: none while its block is 0
    while (left > 0) {
      while (at.block < k_blocks) {
        const u32 slot = issue_ring.stage * config.in_flight;
        wait_parity(shared.full(issue_ring.stage), issue_ring.phase);
        FP8TWIN_UNROLL
        for (u32 i = 0; i < config.in_flight; ++i) issue_slot(p[i], slot + i, 0);
        issued_stage();
        const u32 read = ring.stage * config.in_flight;
        store_before(before, total);
        if (at.block % 32 == 0) turn_window();  // 32 is whole stages
        if (at.block + config.in_flight <= k_blocks) {
          FP8TWIN_UNROLL
          for (u32 i = 0; i < config.in_flight; ++i) {
            load_scales(read + i, 0);
            wait(p[i], config.in_flight - i);
            promote_slot(p[i], total, read + i, 0);
          }
        } else {
          FP8TWIN_UNROLL
          for (u32 i = 0; i < config.in_flight; ++i) {
            load_scales(read + i, 0);
            wait(p[i], config.in_flight - i);
            if (at.block < k_blocks) promote_slot(p[i], total, read + i, 0);
          }
        }
        release_stage();
      }
      before = at;
      next_tile();
    }
    store_before(before, total);
  }

  FP8TWIN_DEVICE void store_before(StreamPlace& before, Registers<Config::width>& total) const {
    if (before.block == 0) return;
    store(before, total, 0);
    before.block = 0;
  }

  /// K = 0: nothing is issued, and every element is +0.
  FP8TWIN_DEVICE void store_zeros(Registers<Config::width>& total) {
    for (; at.index < raster.tiles(); next_tile()) {
      FP8TWIN_UNROLL
      for (u32 slab = 0; slab < config.slabs; ++slab) store(at, total, slab);
    }
  }
};

template <class Config>
FP8TWIN_DEVICE void consume_overlapped(Config config, const TmaGemmArguments& arguments,
                                       const SharedLayout& shared, u32 thread) {
  const u32 number = consumer_threads(config) == warpgroup ? 0 : shfl_sync_idx_b32(thread / warpgroup, 0, full_warp);
  Consumer<Config> consumer = {config, arguments,          shared, cluster_raster(config, arguments.gemm),
                               number, thread % warpgroup, 0,      0,
                               0,      0,                  0,      {},
                               {},     {},                 {},     {},
                               {},     {}};
  consumer.begin();
  RegisterSets<Config::width, Config::sets> total(config.tile_n, config.slabs);
  clear(config, total[0]);
  if (config.slabs == 2) clear(config, total[1]);
  if (consumer.k_blocks == 0) {
    consumer.store_zeros(total[0]);
  } else if (consumer.left == 0) {
    // fewer tiles than blocks
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
