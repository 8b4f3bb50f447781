// What a GEMM kernel keeps in shared memory, and where.
//
//   base, a multiple of 1024
//   | A stage 0 | A stage 1 | ... | B stage 0 | ... | output staging | scales 0 | ... | full[stages] | empty[stages] | ...
//     tile_m x 128 bytes            tile_n x 128      from step 7 on   from step 8 on   8 bytes each
//
//   ... from step 8 on: staged_full[slabs], staged_empty[slabs] |
//
// Scales of a K block: a float for each row of the tile of A, and where B has a scale for each row, one for each of B's.
//
// From step 8 on a stage may hold several K blocks (config.in_flight): tiles and scales are then counted in slots, stage s
// has slots s * in_flight and on.
//
// Tiles are multiples of 1024 bytes (eight rows of 128), so each begins where the 128-byte swizzle's pattern begins.
// Dynamic shared memory promises 16 bytes of alignment only: a launch asks for 1024 more than `end`, and the kernel
// rounds up.
#pragma once

#include "emulator/layout/swizzle.hpp"
#include "gpu/kernels/config.hpp"

namespace fp8twin {

struct SharedLayout {
  u32 base, stages, slots, a_bytes, b_bytes, staging_bytes, a_scale_bytes = 0, b_scale_bytes = 0;
  u32 staged = 0;  // slabs of staging that are handed over by mbarriers

  constexpr u32 a_tile(u32 slot) const { return base + slot * a_bytes; }
  constexpr u32 b_tile(u32 slot) const { return base + slots * a_bytes + slot * b_bytes; }
  constexpr u32 staging() const { return b_tile(slots); }
  constexpr u32 a_scales(u32 slot) const {
    return staging() + staging_bytes + slot * (a_scale_bytes + b_scale_bytes);
  }
  constexpr u32 b_scales(u32 slot) const { return a_scales(slot) + a_scale_bytes; }
  constexpr u32 full(u32 stage) const { return a_scales(slots) + 8 * stage; }
  constexpr u32 empty(u32 stage) const { return full(stages + stage); }
  constexpr u32 staged_full(u32 slab) const { return full(2 * stages + slab); }
  constexpr u32 staged_empty(u32 slab) const { return staged_full(staged + slab); }
  constexpr u32 end() const { return staged_full(2 * staged); }
};

/// What a kernel keeps beside the ring of tiles.
enum class Beside {
  nothing,
  whole_tile,        // staging for the output tile
  slabs_and_scales,  // staging for staged_slabs() slabs of each consumer warpgroup; in each slot the scales of rows
};

/// Bytes of a row of the staged output.
template <class Config>
constexpr u32 staged_row_bytes(Config config) {
  return config.tile_n * (config.output_f32 ? 4 : 2);
}
/// Of the 64 rows (swapped: columns) that a warpgroup stores at a time.
template <class Config>
constexpr u32 slab_bytes(Config config) {
  return 64 * staged_row_bytes(config);
}

/// Slabs of a warpgroup that have staging of their own, so that one is written while another is read: all, but of FP32,
/// which is twice as wide, one.
template <class Config>
constexpr u32 staged_slabs(Config config) {
  return config.output_f32 ? 1 : config.slabs;
}

/// Rows of A, and of B, that a tile has: the scales of a K block of it.
template <class Config>
constexpr u32 a_rows_of_tile(Config config) {
  return config.swapped ? config.tile_n : config.tile_m;
}
template <class Config>
constexpr u32 b_rows_of_tile(Config config) {
  return config.swapped ? config.tile_m : config.tile_n;
}

/// Shared memory that TMA brings `scales` floats to: whole multiples of 128 bytes.
constexpr u32 scale_tile_bytes(u32 scales) { return (4 * scales + 127) / 128 * 128; }

template <class Config>
constexpr SharedLayout shared_layout(Config config, u32 base, Beside beside = Beside::nothing) {
  const u32 slabs = consumer_threads(config) / warpgroup *
                    (beside == Beside::whole_tile ? config.slabs : staged_slabs(config));
  const bool scales = beside == Beside::slabs_and_scales;
  return {base,
          config.stages,
          config.stages * config.in_flight,
          config.tile_m * k_block,
          config.tile_n * k_block,
          beside == Beside::nothing ? 0 : slabs * slab_bytes(config),
          scales ? scale_tile_bytes(a_rows_of_tile(config)) : 0,
          scales && config.b_scale_per_row ? scale_tile_bytes(b_rows_of_tile(config)) : 0,
          scales ? slabs : 0};
}

/// Dynamic shared memory that a launch asks for.
template <class Config>
constexpr u32 shared_bytes(Config config, Beside beside = Beside::nothing) {
  return 1024 + shared_layout(config, 0, beside).end();
}

/// The output is staged in panels: as wide as the widest swizzle that divides a row of the tile.
constexpr SwizzleMode panel_mode(u32 row_bytes) {
  return row_bytes % 128 == 0  ? SwizzleMode::b128
         : row_bytes % 64 == 0 ? SwizzleMode::b64
         : row_bytes % 32 == 0 ? SwizzleMode::b32
                               : SwizzleMode::none;
}

}  // namespace fp8twin
