// What a GEMM kernel keeps in shared memory, and where.
//
//   base, a multiple of 1024
//   | A stage 0 | A stage 1 | ... | B stage 0 | ... | output staging | full[stages] | empty[stages] |
//     tile_m x 128 bytes            tile_n x 128      step 7 only      8 bytes each
//
// Tiles are multiples of 1024 bytes (eight rows of 128), so each begins where the 128-byte swizzle's pattern begins.
// Dynamic shared memory promises 16 bytes of alignment only: a launch asks for 1024 more than `end`, and the kernel
// rounds up.
#pragma once

#include "emulator/layout/swizzle.hpp"
#include "gpu/kernels/config.hpp"

namespace fp8twin {

struct SharedLayout {
  u32 base, stages, a_bytes, b_bytes, staging_bytes;

  constexpr u32 a_tile(u32 stage) const { return base + stage * a_bytes; }
  constexpr u32 b_tile(u32 stage) const { return base + stages * a_bytes + stage * b_bytes; }
  constexpr u32 staging() const { return b_tile(stages); }
  constexpr u32 full(u32 stage) const { return staging() + staging_bytes + 8 * stage; }
  constexpr u32 empty(u32 stage) const { return full(stages + stage); }
  constexpr u32 end() const { return empty(stages); }
};

/// `staging`: room for the whole output tile.
template <class Config>
constexpr SharedLayout shared_layout(Config config, u32 base, bool staging = false) {
  const u32 element = config.output_f32 ? 4 : 2;
  return {base, config.stages, config.tile_m * k_block, config.tile_n * k_block,
          staging ? config.tile_m * config.tile_n * element : 0};
}

/// Dynamic shared memory that a launch asks for.
template <class Config>
constexpr u32 shared_bytes(Config config, bool staging = false) {
  return 1024 + shared_layout(config, 0, staging).end();
}

/// The output is staged in panels: as wide as the widest swizzle that divides a row of the tile.
constexpr SwizzleMode panel_mode(u32 row_bytes) {
  return row_bytes % 128 == 0  ? SwizzleMode::b128
         : row_bytes % 64 == 0 ? SwizzleMode::b64
         : row_bytes % 32 == 0 ? SwizzleMode::b32
                               : SwizzleMode::none;
}

}  // namespace fp8twin
