// The swizzle of shared memory: which address bits TMA and wgmma exchange so that a column of a tile meets every bank.
//
//   mode    row of the pattern   address bits XORed      repeats every
//   none    -                    none                    -
//   32B     32 bytes             4    with 7             256 bytes
//   64B     64 bytes             4-5  with 7-8           512 bytes
//   128B    128 bytes            4-6  with 7-9           1024 bytes
//
//   128B:   address  ...  9 8 7 | 6 5 4 | 3 2 1 0        the 16-byte chunk number (6-4) of row (9-7):
//                         row     chunk   byte            chunk' = chunk ^ row
//
// It acts on absolute shared-memory addresses, so a tile that starts off a multiple of the period begins in the middle of
// the pattern. Applying it twice gives the address back. Source: PTX ISA, "Shared Memory Matrix Layout", "Swizzling Modes".
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin {

/// By the value of a matrix descriptor's field (bits 62-63). The order is not that of TMA's enum.
enum class SwizzleMode : u32 { none = 0, b128 = 1, b64 = 2, b32 = 3 };

/// Bytes of one row of the pattern: 128, 64, 32; 16 without a swizzle.
constexpr u32 swizzle_width(SwizzleMode mode) {
  return mode == SwizzleMode::b128 ? 128 : mode == SwizzleMode::b64 ? 64 : mode == SwizzleMode::b32 ? 32 : 16;
}

/// Bytes after which the pattern repeats: eight rows.
constexpr u32 swizzle_period(SwizzleMode mode) { return 8 * swizzle_width(mode); }

/// What the pattern XORs into an address that lies at `phase` of it: the row's number, as chunk bits.
constexpr u32 swizzle_bits(SwizzleMode mode, u32 phase) { return (phase >> 3) & (swizzle_width(mode) - 16); }

/// Where the byte of linear address `address` is kept.
constexpr u32 swizzle(SwizzleMode mode, u32 address) { return address ^ swizzle_bits(mode, address); }

}  // namespace fp8twin
