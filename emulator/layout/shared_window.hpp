// The shared-memory addresses of a block, alone and in a cluster.
//
//     31      24 23                                                0
//    +----------+---------------------------------------------------+
//    |   rank   |  offset in the shared memory of the block         |      rank: %cluster_ctarank, 0 outside a cluster
//    +----------+---------------------------------------------------+
//
//    offset   0x0000 ... 0x0400    0x0400 ...          then
//             the system's own     static variables    dynamic, from a multiple of 16 on
//
// The window of shared::cta lies within that of shared::cluster: the address that a block of rank 1 gets for its own
// shared memory already has its rank in the top byte. So the same variable has another address in each rank, and mapa
// only replaces the top byte. wgmma's descriptors keep 18 bits of an address: there the rank is cut off.
//
// Source: recorded on the card (tests/golden/layouts.json, "window"); PTX ISA, "mapa" and "State Spaces".
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin {

/// Bytes at the start of every block's shared memory that belong to the system.
inline constexpr u32 reserved_shared_bytes = 1024;

/// Where a block's shared memory ends at the latest: what an SM90 block can have, 227 KiB, behind the system's.
inline constexpr u32 shared_memory_end = 228 * 1024;

inline constexpr u32 shared_rank_shift = 24;

/// The address of the same offset in the block of rank `rank`: what mapa.shared::cluster gives.
constexpr u32 shared_address_of_rank(u32 address, u32 rank) {
  return rank << shared_rank_shift | (address & ((1u << shared_rank_shift) - 1));
}

constexpr u32 rank_of_shared_address(u32 address) { return address >> shared_rank_shift; }

/// Where dynamic shared memory begins for the block of rank `rank` behind `static_bytes` of static variables.
constexpr u32 dynamic_shared_address(u32 rank, u32 static_bytes) {
  return shared_address_of_rank(reserved_shared_bytes + (static_bytes + 15) / 16 * 16, rank);
}

}  // namespace fp8twin
