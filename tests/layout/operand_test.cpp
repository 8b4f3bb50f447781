// What wgmma reads: for tiles as TMA writes them, for tiles that another base offset fits, for core matrices.
#include "emulator/layout/operand.hpp"

#include <array>
#include <vector>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

constexpr std::array swizzled = {SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};

/// 64 rows of the mode's width at `tile`, packed.
MatrixDescriptor packed(SwizzleMode mode, u32 tile, u32 step, u32 base) {
  return {tile + 32 * step, 0, swizzle_period(mode), base, mode};
}

/// As XOR on chunk number and row of the pattern: no address formula.
u32 chunk_at(SwizzleMode mode, u32 line, u32 chunk) {
  const u32 chunks = swizzle_width(mode) / 16;
  return chunk ^ (line % chunks);
}

}  // namespace

TEST_CASE(
    "operand: with base offset 0 wgmma finds what was swizzled by absolute address, wherever the tile is") {
  for (const SwizzleMode mode : swizzled) {
    const u32 width = swizzle_width(mode);
    for (u32 tile = 0x400; tile < 0x400 + 0x800; tile += 128) {
      for (u32 step = 0; step < width / 32; ++step) {
        for (u32 row = 0; row < 64; ++row) {
          for (u32 k = 0; k < 32; ++k) {
            const u32 written = tile + row * width + 32 * step + k;  // before the swizzle
            REQUIRE(wgmma_operand_address(packed(mode, tile, step, 0), row, k) == swizzle(mode, written));
          }
        }
      }
    }
  }
}

TEST_CASE("operand: base offset start / 128 % 8 fits a tile that was swizzled from its own first byte") {
  for (const SwizzleMode mode : swizzled) {
    const u32 width = swizzle_width(mode);
    for (u32 first = 0; first < 8; ++first) {
      const u32 tile = 0x2000 + 128 * first;
      for (u32 row = 0; row < 64; ++row) {
        for (u32 k = 0; k < 32; k += 16) {
          const u32 byte = row * width + k, line = byte / 128, chunk = byte % width / 16;
          const u32 wanted = tile + row * width + 16 * chunk_at(mode, line, chunk);
          REQUIRE(wgmma_operand_address(packed(mode, tile, 0, first), row, k) == wanted);
        }
      }
    }
  }
}

TEST_CASE("operand: base offsets a pattern apart are one") {
  // 32B repeats after 2 lines of 128 bytes, 64B after 4, 128B after 8.
  for (const SwizzleMode mode : swizzled) {
    const u32 lines = swizzle_period(mode) / 128;
    for (u32 base = 0; base + lines < 8; ++base) {
      for (u32 row = 0; row < 64; ++row) {
        for (u32 k = 0; k < 32; ++k) {
          REQUIRE(wgmma_operand_address(packed(mode, 0x2080, 0, base), row, k) ==
                  wgmma_operand_address(packed(mode, 0x2080, 0, base + lines), row, k));
        }
      }
    }
  }
}

TEST_CASE("operand: the steps along K of a packed tile read every byte once") {
  for (const SwizzleMode mode : swizzled) {
    for (u32 base = 0; base < 8; ++base) {
      const u32 width = swizzle_width(mode), tile = 0x2000;
      std::vector<int> hits(64 * width);
      for (u32 step = 0; step < width / 32; ++step) {
        for (u32 row = 0; row < 64; ++row) {
          for (u32 k = 0; k < 32; ++k) {
            const u32 at = wgmma_operand_address(packed(mode, tile, step, base), row, k) - tile;
            REQUIRE(at < hits.size());
            ++hits[at];
          }
        }
      }
      for (const int hit : hits) REQUIRE(hit == 1);
    }
  }
}

TEST_CASE("operand: without a swizzle, core matrices; no base offset moves anything") {
  for (u32 base = 0; base < 8; ++base) {
    for (u32 row = 0; row < 256; ++row) {
      for (u32 k = 0; k < 32; ++k) {
        const MatrixDescriptor d{0x480, 2048, 144, base, SwizzleMode::none};
        REQUIRE(wgmma_operand_address(d, row, k) ==
                0x480 + row / 8 * 144 + row % 8 * 16 + k / 16 * 2048 + k % 16);
      }
    }
  }
}

TEST_CASE("operand: a swizzle does not read the leading offset") {
  for (const SwizzleMode mode : swizzled) {
    MatrixDescriptor d = packed(mode, 0x2000, 0, 0), other = d;
    other.leading_byte_offset = 4096;
    for (u32 row = 0; row < 64; ++row) {
      for (u32 k = 0; k < 32; ++k)
        REQUIRE(wgmma_operand_address(d, row, k) == wgmma_operand_address(other, row, k));
    }
  }
}
