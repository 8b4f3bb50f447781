// Where a block's dynamic shared memory begins, and the same place in another block of the cluster (mapa). PTX ISA, "mapa".
//
// A block's own addresses carry its rank in their top byte, on the card as here: 0x00000400 in a block alone or of rank 0,
// 0x01000400 in one of rank 1 (tests/golden/layouts.json).
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline u32 dynamic_shared() { return machine::self().block->shared.begin(); }

inline u32 mapa_shared_cluster_u32(u32 address, u32 rank, machine::Site site = machine::Site::here()) {
  return machine::map_shared(machine::self(), address, rank, site);
}

}  // namespace fp8twin
