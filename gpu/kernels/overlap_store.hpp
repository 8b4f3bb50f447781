// The warps that store, in steps 8 and 9: one for each consumer warpgroup, out of the producer's.
//
//   consumer warpgroup                          its storing warp, one thread
//   wait staged_empty[slab]                     wait staged_full[slab]         an arrival of each of four warps
//   stmatrix ...                                fence.proxy.async              for what those warps wrote
//   arrive at staged_full[slab]                 TMA: staging rows -> D
//   next promotion                              until they have been read: arrive at staged_empty[slab]
//
//   (A slab whose last rows belong to another group, or to nobody, the whole warp copies: store_rows.hpp.)
//
//   A ring as that of the K blocks, in the other direction. What a store costs beside its conversion, a proxy fence (170
//   cycles), a meeting of four warps, the copies and the wait for the staging rows, is not on the consumers' path.
//
// The fence stands with the thread that copies: it has acquired the stores of the others at the barrier, and they come
// before its fence as its own would (PTX ISA, causality order across proxies).
#pragma once

#include "gpu/kernels/overlap_producer.hpp"
#include "gpu/kernels/store_rows.hpp"
#include "gpu/kernels/swapped.hpp"

namespace fp8twin {

/// Where slab `slab` of consumer warpgroup `number` is staged.
template <class Config>
constexpr u32 staging_slot(Config config, u32 number, u32 slab) {
  return number * staged_slabs(config) + slab % staged_slabs(config);
}

/// By one thread, before init_barriers(), whose fence speaks for these too: four warps fill a slab, one thread frees it.
FP8TWIN_DEVICE void init_staging_barriers(const SharedLayout& shared) {
  for (u32 slab = 0; slab < shared.staged; ++slab) {
    mbarrier_init_b64(shared.staged_full(slab), warpgroup / 32);
    mbarrier_init_b64(shared.staged_empty(slab), 1);
  }
}

/// Rows of D that a slab of a tile covers.
template <class Config>
constexpr u32 rows_of_slab(Config config) {
  return config.swapped ? config.tile_n : 64;
}

/// How many of them count: all, the first few, or none, and then nothing is staged.
template <class Config>
FP8TWIN_DEVICE u32 rows_that_count(Config config, const Group& group, const Tile& tile, u32 slab_number) {
  if (config.grouping == Grouping::none) return rows_of_slab(config);
  const u32 row = config.swapped ? tile.column0 : tile.row0 + 64 * slab_number;
  const u32 rows = row < group.rows ? group.rows - row : 0;
  return rows < rows_of_slab(config) ? rows : rows_of_slab(config);
}

/// One storing warp; where there are no groups every slab is whole, and only its thread that `leads` comes here.
template <class Config>
struct StoringWarp {
  Config config;
  const TmaGemmArguments& arguments;
  const SharedLayout& shared;
  u32 number;  // of its consumer warpgroup
  bool leads;
  u32 phases = 0;  // a bit for each of the warpgroup's staging slots
  bool owes = false;
  u32 owed = 0;  // the slot that TMA reads, and that has not been handed back

  FP8TWIN_DEVICE u32 slot(u32 own) const { return number * staged_slabs(config) + own; }

  FP8TWIN_DEVICE void hand_back_what_is_owed() {
    if (owes && leads) {
      cp_async_bulk_wait_group_read<0>();
      mbarrier_arrive_b64(shared.staged_empty(slot(owed)));
    }
    owes = false;
  }

  /// All of the slab, by TMA. With two slots TMA still reads this one while it is waited for the one before.
  FP8TWIN_DEVICE void store_whole(const Group& group, const Tile& tile, u32 row0, u32 staging, u32 own) {
    if (leads) {
      fence_proxy_async_shared_cta();
      if (config.swapped) {
        copy_swapped_slab(config, arguments, staging, group.d_row + tile.column0, row0);
      } else {
        copy_slab(config, arguments, staging, group.d_row + row0, tile.column0);
      }
    }
    if (owes && leads) {
      cp_async_bulk_wait_group_read<1>();
      mbarrier_arrive_b64(shared.staged_empty(slot(owed)));
    }
    owes = true;
    owed = own;
    if (staged_slabs(config) == 1) hand_back_what_is_owed();
  }

  /// The first few of its rows, by all lanes.
  FP8TWIN_DEVICE void store_part(const Group& group, const Tile& tile, u32 rows, u32 row0, u32 staging,
                                 u32 own) {
    hand_back_what_is_owed();
    const u32 element = config.output_f32 ? 4 : 2;
    const u32 width = config.swapped ? 64 * element : staged_row_bytes(config);
    const Panels panels = {staging, config.swapped ? SwizzleMode::b128 : panel_mode(width),
                           rows_of_slab(config)};
    copy_rows(config, arguments.gemm, panels, width, rows,
              group.d_row + (config.swapped ? tile.column0 : row0), config.swapped ? row0 : tile.column0);
    release(shared.staged_empty(slot(own)));
  }

  FP8TWIN_DEVICE void run() {
    const GemmArguments& g = arguments.gemm;
    const u32 staged = staged_slabs(config), stride = nctaid_x() / cluster_size(config);
    for (TileWalk<Config> walk = first_tile(config, g); !walk.done(); walk.advance(stride)) {
      const Tile tile = cluster_tile(config, walk.place(), cluster_ctarank());
      const Group group = group_at(config, g, walk.group);
      FP8TWIN_UNROLL
      for (u32 slab = 0; slab < config.slabs; ++slab) {
        const u32 own = slab % staged, slab_number = number * config.slabs + slab;
        const u32 rows = rows_that_count(config, group, tile, slab_number);
        if (rows == 0) {
          hand_back_what_is_owed();
          continue;
        }
        const u32 staging = shared.staging() + slot(own) * slab_bytes(config),
                  row0 = tile.row0 + 64 * slab_number;
        wait_parity(shared.staged_full(slot(own)), phases >> own & 1);
        phases ^= 1u << own;
        // The leader may not go ahead: the barrier could pass two phases while another lane still waits for the first.
        if (config.grouping != Grouping::none) bar_warp_sync(full_warp);
        if (rows == rows_of_slab(config)) {
          store_whole(group, tile, row0, staging, own);
        } else {
          store_part(group, tile, rows, row0, staging, own);
        }
      }
    }
    if (leads) cp_async_bulk_wait_group_read<0>();  // D itself is complete when the grid is
  }
};

/// For consumer warpgroup `number`: all slabs of all its tiles, in the order in which they are staged.
template <class Config>
FP8TWIN_DEVICE void store_staged(Config config, const TmaGemmArguments& arguments, const SharedLayout& shared,
                                 u32 number) {
  const bool leads = elect_sync(full_warp);
  StoringWarp<Config> warp = {config, arguments, shared, number, leads};
  if (config.grouping != Grouping::none || leads) warp.run();
}

}  // namespace fp8twin
