// The producer of steps 8 and 9: as in step 7, with A's scales, and stages of in_flight K blocks (overlap.hpp).
//
//   a stage     | A, K block 0 | ... | A, K block f-1 | B ... | scales ... |     one full barrier, one expect_tx
//
//   Past K's end TMA brings zeros, and they count; the consumer multiplies them and promotes nothing. So it is past the end
//   of a group along K, where what arrives is the next group's.
#pragma once

#include "gpu/kernels/tile_notes.hpp"

namespace fp8twin {

/// By one thread.
template <class Config>
FP8TWIN_DEVICE void produce_with_scales(Config config, const TmaGemmArguments& arguments,
                                        const SharedLayout& shared) {
  const GemmArguments& g = arguments.gemm;
  const u32 size = cluster_size(config), rank = cluster_ctarank();
  const u32 scales =
      a_rows_of_tile(config) + (config.b_scale_per_row ? b_rows_of_tile(config) : 0);  // of a K block
  const u32 bytes = config.in_flight * (shared.a_bytes + shared.b_bytes + 4 * scales);
  PipelineState state;
  u32 number = 0;  // of the tile's note
  TileWalk<Config> walk = first_tile(config, g);
  ScalePlace scales_of_b = scale_place(config, g, walk);
  while (!walk.done()) {
    const Group group = group_at(config, g, walk.group);
    Tile tile = cluster_tile(config, walk.place(), rank);
    TileNote note = {tile.row0, tile.column0, walk.group, group.k_blocks, scales_of_b, {}};
    walk.advance(nctaid_x() / size);
    if (!config.b_scale_per_row) note.next = scales_of_b = scale_place(config, g, walk);
    // Scales of a group begin at a multiple of four: a box without a swizzle begins on 16 bytes.
    const i32 a_scale = static_cast<i32>(group.a_scale_row + (config.swapped ? tile.column0 : tile.row0)),
              b_scale = static_cast<i32>(group.b_scale_row + (config.swapped ? tile.row0 : tile.column0));
    tile.row0 += config.swapped ? group.b_row : group.a_row;  // of all groups
    tile.column0 += config.swapped ? group.a_row : group.b_row;
    for (u32 block = 0; block < group.k_blocks; block += config.in_flight, state.advance(config.stages)) {
      const u32 full = shared.full(state.stage);
      wait_parity(shared.empty(state.stage), state.phase ^ 1);
      if (block == 0) write_note(shared.note(number), note);
      mbarrier_arrive_expect_tx_b64(full, bytes);
      FP8TWIN_UNROLL
      for (u32 i = 0; i < config.in_flight; ++i) {
        const u32 slot = state.stage * config.in_flight + i, from = group.k_block + block + i;
        load_k_block_of_cluster(config, arguments, shared, slot, full, tile, from, rank, g.b_once);
        cp_async_bulk_tensor_2d_shared_global(shared.a_scales(slot), arguments.a_scale, a_scale,
                                              static_cast<i32>(from), full);
        if (config.b_scale_per_row) {
          cp_async_bulk_tensor_2d_shared_global(shared.b_scales(slot), arguments.b_scale, b_scale,
                                                static_cast<i32>(from), full);
        }
      }
    }
    if (++number == shared.notes()) number = 0;
  }
  if (size > 1) wait_for_last_releases(shared, state);
}

}  // namespace fp8twin
