// A consumer warpgroup of steps 8 and 9: its stream of products, promotions and stores (overlap.hpp says why it has this
// shape).
//
//   issue(p, slab)        the next unit of the stream: a K block's product for one slab, into the accumulator p
//   promote_unit(...)     waits for the oldest unit, hands its stage back, adds it to the slab's total
//   store(...)            a complete slab, into staging rows, and to the warp that stores, while the next unit is multiplied
#pragma once

#include "gpu/kernels/column_scales.hpp"
#include "gpu/kernels/multiply.hpp"
#include "gpu/kernels/overlap_producer.hpp"
#include "gpu/kernels/overlap_store.hpp"
#include "gpu/kernels/promotion.hpp"
#include "gpu/kernels/scale_window.hpp"

namespace fp8twin {

/// Where a warpgroup is: the note of a tile (tile_notes.hpp), and a K block of it.
struct StreamPlace {
  u32 note = 0, block = 0;
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
  u32 number, thread;     // of the warpgroup among the consumers, of this thread in it
  u32 k_blocks = 0;       // of the tile where this is
  u32 column0 = 0;        // its first, where a tile may meet several scale blocks
  u32 scale_offset = 0;   // of this thread's first row in a tile of scales of rows
  u32 empty = 0;          // empty[0]: its own, or in a cluster lane r's that of block r
  u32 left = 0;           // stages not issued
  u32 staged_phases = 0;  // a bit for each staging slot: the parity of its round
  PipelineState issue_ring = {}, ring = {};
  StreamPlace at = {}, issued = {};
  ScaleWindow window = {};
  BlockScales scales = {};
  float ahead[3] = {};  // scales of B of the K block after

  /// The slab's number in the tile; and this thread as that slab's, as if each slab had a warpgroup of its own.
  FP8TWIN_DEVICE u32 slab_number(u32 slab) const { return number * config.slabs + slab; }
  FP8TWIN_DEVICE Probe<Config> probe(const StreamPlace& place, u32 slab) const {
    const u32 note = shared.note(place.note);
    return probe(config.trace ? noted_tile(config, note) : Tile{}, config.trace ? noted_group(note) : 0,
                 slab);
  }
  FP8TWIN_DEVICE Probe<Config> probe(const Tile& tile, u32 group, u32 slab) const {
    return probe_of(config, arguments.gemm, tile, slab_number(slab) * warpgroup + thread, group);
  }

  FP8TWIN_DEVICE void begin() {
    const u32 size = cluster_size(config);
    // Out of a shuffle, so that the compiler knows it for the same in all lanes: the loops end by it, and what they carry, stages
    // and descriptors, would else be kept in vector registers (5% of the time).
    left = shfl_sync_idx_b32(stages_of_all(config, arguments.gemm), 0, full_warp);
    if (!config.b_scale_per_row) {
      const TileWalk<Config> walk = first_tile(config, arguments.gemm);
      window.fetch(config, arguments.gemm, scale_place(config, arguments.gemm, walk), 0);
    }
    k_blocks = k_blocks_of(arguments.gemm);
    scale_offset = 4 * (64 * slab_number(0) + accumulator_coordinate(thread, 0).row);
    empty = size == 1 ? shared.empty(0) : mapa_shared_cluster_u32(shared.empty(0), laneid() % size);
  }

  /// The place after a tile's end.
  FP8TWIN_DEVICE StreamPlace after(const StreamPlace& place) const {
    return {place.note + 1 == shared.notes() ? 0 : place.note + 1, 0};
  }
  /// At a tile's start, whose first stage has landed.
  FP8TWIN_DEVICE void read_note() {
    if (config.grouping == Grouping::along_k) k_blocks = noted_k_blocks(shared.note(at.note));
    if (!scales_columns() && scale_blocks_met(config.tile_n) > 1) {
      column0 = shfl_sync_idx_b32(noted_tile(config, shared.note(at.note)).column0, 0, full_warp);
    }
  }

  /// The next unit of the stream onto the tensor core.
  FP8TWIN_DEVICE void issue(Accumulator<Config::width>& p, u32 slab, bool landed = false) {
    if (slab == 0 && !landed) wait_parity(shared.full(issue_ring.stage), issue_ring.phase);
    if (takes_turns()) bar_sync(turn_barrier(number), 2 * warpgroup);
    issue_slot(p, 0, slab);
    if (slab + 1 == config.slabs) issued_stage();
    if (takes_turns() && (number + 1 < groups() || slab + 1 < config.slabs || left > 0)) {
      bar_arrive(turn_barrier((number + 1) % groups()), 2 * warpgroup);
    }
  }

  /// Warpgroups issue in turn, so that one promotes while another's product runs: left alone they fall into step, and the
  /// tensor core waits for both. A warpgroup's turn comes with 128 arrivals of the one before it, and is a meeting of its
  /// own threads as well.
  FP8TWIN_DEVICE u32 groups() const { return consumer_threads(config) / warpgroup; }
  FP8TWIN_DEVICE bool takes_turns() const { return config.in_flight == 1 && groups() > 1; }
  FP8TWIN_DEVICE u32 turn_barrier(u32 group) const { return 1 + group; }

  /// K block `i` of the stage.
  FP8TWIN_DEVICE void issue_slot(Accumulator<Config::width>& p, u32 i, u32 slab) {
    const u32 slot = issue_ring.stage * config.in_flight + i;
    Probe<Config> probes = probe(issued, slab);
    probes.on = config.trace && probes.on && issued.block < noted_k_blocks(shared.note(issued.note));
    probes.tiles(issued.block, shared.a_tile(slot), shared.b_tile(slot));
    issue_k_block(config, p, shared.a_tile(slot) + slab_number(slab) * (64 * k_block), shared.b_tile(slot),
                  probes, issued.block);
    if (config.trace && slab + 1 == config.slabs) ++issued.block;
  }

  FP8TWIN_DEVICE void issued_stage() {
    issue_ring.advance(config.stages);
    --left;
    if (config.trace && issued.block >= noted_k_blocks(shared.note(issued.note))) issued = after(issued);
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

  /// Before a tile's first K block, and every 32: what comes after is fetched.
  FP8TWIN_DEVICE void turn_window(u32 block) {
    if (config.b_scale_per_row) return;
    window.turn(config);
    const u32 note = shared.note(at.note);
    if (block + 32 < k_blocks) {
      window.fetch(config, arguments.gemm, noted_scales(note), block + 32);
    } else {
      window.fetch(config, arguments.gemm, noted_next_scales(note), 0);
    }
  }

  /// The scales of B of one of the tile's K blocks, out of the window that has it.
  FP8TWIN_DEVICE void b_scales(float (&b)[3], u32 block) const {
    if (config.b_scale_per_row) return;
    const u32 met = config.swapped ? 1 : scale_blocks_met(config.tile_n);
    FP8TWIN_UNROLL
    for (u32 i = 0; i < met; ++i) b[i] = window.at(i, block);
  }

  /// The scales of this thread's two rows in the unit that is promoted next, while its product is under way.
  FP8TWIN_DEVICE void load_row_scales(u32 slot, u32 slab) {
    if (config.swapped && !config.b_scale_per_row) return;
    const u32 from =
        (config.swapped ? shared.b_scales(slot) : shared.a_scales(slot)) + scale_offset + 256 * slab;
    scales.a[0] = ld_shared_f32(from);
    scales.a[1] = ld_shared_f32(from + 32);  // eight rows below
  }

  /// Adds a product that has ended, whose columns have scales of their own.
  FP8TWIN_DEVICE void promote_by_columns(Accumulator<Config::width>& p, Registers<Config::width>& total,
                                         u32 slot, bool first) {
    const bool own = config.b_scale_per_row;
    const float rows[2] = {own ? scales.a[0] : scales.b[0], own ? scales.a[1] : scales.b[0]};
    Registers<Config::width> s(config.tile_n);
    multiply_scales(config, config.swapped ? shared.a_scales(slot) : shared.b_scales(slot), rows, thread, s);
    promote_scaled(config, s, p, total, first);
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
  FP8TWIN_DEVICE void promote_slot(Accumulator<Config::width>& p, Registers<Config::width>& total, u32 slab,
                                   u32 slot, bool first = false) {
    if (scales_columns()) {
      promote_by_columns(p, total, slot, first);
    } else {
      promote(config, column0, scales, p, total, first);
    }
    probe(at, slab).promoted(at.block, total);
    if (slab + 1 == config.slabs) ++at.block;
  }

  /// B's scales are taken out of the window a K block ahead: ptxas moves a shuffle past the wait for the product, and the
  /// sums would wait for the shuffle. With two slabs, one sum out of two would, and it costs more than it brings (measured).
  FP8TWIN_DEVICE bool looks_ahead() const { return config.slabs == 1; }

  /// Each column of a tile has a scale, which the promotion reads from the stage.
  FP8TWIN_DEVICE bool scales_columns() const { return config.swapped || config.b_scale_per_row; }

  /// Waits for one unit, frees its stage after the last slab, and promotes it. `more`: K blocks of the tile come after it.
  FP8TWIN_DEVICE void promote_unit(Accumulator<Config::width>& p, Registers<Config::width>& total, u32 slab,
                                   bool more, bool first = false) {
    const u32 slot = ring.stage;
    if (slab == 0 && looks_ahead()) {
      FP8TWIN_UNROLL
      for (u32 i = 0; i < 3; ++i) scales.b[i] = ahead[i];
    } else if (slab == 0) {
      if (at.block % 32 == 0) turn_window(at.block);
      b_scales(scales.b, at.block);
    }
    load_row_scales(slot, slab);
    if (looks_ahead() && more) {
      if ((at.block + 1) % 32 == 0) turn_window(at.block + 1);
      b_scales(ahead, at.block + 1);
    }
    wgmma_wait_group<0>(p);
    if (!scales_columns() && slab + 1 == config.slabs) release_stage();
    promote_slot(p, total, slab, slot, first);
    if (scales_columns() && slab + 1 == config.slabs)
      release_stage();  // its scales are read by the promotion
  }

  /// Hands a complete slab to the warp that stores. `free`: its staging rows are known to be free.
  FP8TWIN_DEVICE void store(const StreamPlace& place, Registers<Config::width>& total, u32 slab,
                            bool free = false) {
    const u32 note = shared.note(place.note);
    const bool asks = config.trace || config.accumulate || config.grouping != Grouping::none;  // where it is
    store(asks ? noted_tile(config, note) : Tile{}, asks ? noted_group(note) : 0, total, slab, free);
  }

  FP8TWIN_DEVICE void store(const Tile& tile, u32 group_number, Registers<Config::width>& total, u32 slab,
                            bool free) {
    const GemmArguments& g = arguments.gemm;
    const u32 slot = staging_slot(config, number, slab), own = slab % staged_slabs(config),
              staging = shared.staging() + slot * slab_bytes(config);
    const Group group = group_at(config, g, group_number);
    if (config.accumulate && !config.output_f32) {
      add_c(config, g, group, tile, 64 * slab_number(slab), thread, total);
    }
    probe(tile, group_number, slab)
        .output(config.swapped ? g.n : group.rows, config.swapped ? group.rows : g.n, tile, total);
    if (rows_that_count(config, group, tile, slab_number(slab)) == 0) return;
    if (!free) wait_parity(shared.staged_empty(slot), (staged_phases >> own & 1) ^ 1);
    if (config.swapped) {
      stage_swapped_slab(config, staging, thread, total);
    } else {
      stage_slab(config, staging, thread, total);
    }
    release(shared.staged_full(slot));
    staged_phases ^= 1u << own;
  }

  /// The next unit, and under its product the store of a slab that is complete.
  FP8TWIN_DEVICE void issue_and_store(Accumulator<Config::width>& p, u32 slab, const StreamPlace& place,
                                      Registers<Config::width>& total, u32 complete, bool landed = false) {
    const bool free =
        mbarrier_test_wait_parity_b64(shared.staged_empty(staging_slot(config, number, complete)),
                                      (staged_phases >> complete % staged_slabs(config) & 1) ^ 1);
    issue(p, slab, landed);
    store(place, total, complete, free);
  }

  /// Promotes one K block, slab by slab, each with the next unit issued behind it.
  FP8TWIN_DEVICE void middle_block(Accumulator<Config::width>& p,
                                   RegisterSets<Config::width, Config::sets>& total, bool first) {
    const u32 last = config.slabs - 1;
    if (config.slabs == 2) {
      promote_unit(p, total[0], 0, true, first);
      issue(p, 1);
    }
    // Asked while a product is under way, the answer is there when that has been promoted.
    const bool landed = mbarrier_test_wait_parity_b64(shared.full(issue_ring.stage), issue_ring.phase);
    promote_unit(p, total[last], last, true, first);
    issue(p, 0, landed);
  }

  /// All tiles, one product under way at a time. `total` has one or two slabs, named by constants: else the compiler
  /// keeps an array in memory. A tile's first K block is a copy of the loop's body that sets the totals, its last one that
  /// stores them; K = 1 to 128 is first and last, and clears them.
  FP8TWIN_DEVICE void run_stream(Accumulator<Config::width>& p,
                                 RegisterSets<Config::width, Config::sets>& total) {
    const u32 last = config.slabs - 1;
    if (takes_turns() && number + 1 == groups()) bar_arrive(turn_barrier(0), 2 * warpgroup);
    issue(p, 0);
    for (;;) {
      read_note();
      if (looks_ahead()) {
        turn_window(0);
        b_scales(ahead, 0);
      }
      if (k_blocks > 1) {
        middle_block(p, total, true);
      } else {
        clear(config, total[0]);
        if (config.slabs == 2) clear(config, total[1]);
      }
      while (at.block + 1 < k_blocks) middle_block(p, total, false);
      if (config.slabs == 2) {
        promote_unit(p, total[0], 0, false);
        issue_and_store(p, 1, at, total[0], 0);
      }
      const bool landed = mbarrier_test_wait_parity_b64(shared.full(issue_ring.stage), issue_ring.phase);
      promote_unit(p, total[last], last, false);
      if (left == 0) break;
      issue_and_store(p, 0, at, total[last], last, landed);
      at = after(at);
    }
    store(at, total[last], last);
  }

  /// All tiles, a stage of `in_flight` K blocks at a time. What a stage holds past K's end is multiplied, since a wgmma must
  /// not stand in a branch, and not promoted.
  FP8TWIN_DEVICE void run_batches(Accumulators<Config::width, Config::ring>& p,
                                  Registers<Config::width>& total) {
    StreamPlace before = at;  // the tile whose sums are complete, and not stored: none while its block is 0
    while (left > 0) {
      do {
        wait_parity(shared.full(issue_ring.stage), issue_ring.phase);
        if (at.block == 0) read_note();
        FP8TWIN_UNROLL
        for (u32 i = 0; i < config.in_flight; ++i) issue_slot(p[i], i, 0);
        issued_stage();
        const u32 read = ring.stage * config.in_flight;
        store_before(before, total);
        if (at.block % 32 == 0) turn_window(at.block);  // 32 is whole stages
        if (at.block + config.in_flight <= k_blocks) {
          FP8TWIN_UNROLL
          for (u32 i = 0; i < config.in_flight; ++i) {
            b_scales(scales.b, at.block);
            load_row_scales(read + i, 0);
            wait(p[i], config.in_flight - i);
            promote_slot(p[i], total, 0, read + i);
          }
        } else {
          FP8TWIN_UNROLL
          for (u32 i = 0; i < config.in_flight; ++i) {
            b_scales(scales.b, at.block);
            load_row_scales(read + i, 0);
            wait(p[i], config.in_flight - i);
            if (at.block < k_blocks) promote_slot(p[i], total, 0, read + i);
          }
        }
        release_stage();
      } while (at.block < k_blocks);
      before = at;
      at = after(at);
    }
    store_before(before, total);
  }

  FP8TWIN_DEVICE void store_before(StreamPlace& before, Registers<Config::width>& total) {
    if (before.block == 0) return;
    store(before, total, 0);
    clear(config, total);
    before.block = 0;
  }

  /// K = 0: nothing is issued, and every element is +0.
  FP8TWIN_DEVICE void store_zeros(Registers<Config::width>& total) {
    TileWalk<Config> walk = first_tile(config, arguments.gemm);
    for (; !walk.done(); walk.advance(nctaid_x() / cluster_size(config))) {
      const Tile tile = cluster_tile(config, walk.place(), cluster_ctarank());
      FP8TWIN_UNROLL
      for (u32 slab = 0; slab < config.slabs; ++slab) {
        clear(config, total);  // c may have been added to it
        store(tile, walk.group, total, slab, false);
      }
    }
  }
};

template <class Config>
FP8TWIN_DEVICE void consume_overlapped(Consumer<Config>& consumer) {
  const Config config = consumer.config;
  RegisterSets<Config::width, Config::sets> total(config.tile_n, config.slabs);
  if (consumer.k_blocks == 0) {
    consumer.store_zeros(total[0]);
  } else if (consumer.left == 0) {
    // fewer tiles than blocks
  } else if (config.in_flight == 1) {
    Accumulator<Config::width> p(config.tile_n);
    consumer.run_stream(p, total);
  } else {
    Accumulators<Config::width, Config::ring> p(config.tile_n, config.in_flight);
    clear(config, total[0]);
    consumer.run_batches(p, total[0]);
  }
  bar_warp_sync(full_warp);
}

}  // namespace fp8twin
