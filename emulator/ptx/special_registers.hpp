// Special registers: who am I. PTX ISA, "Special Registers": %tid, %ctaid, %nctaid, %cluster_ctarank, %cluster_nctarank, %laneid.
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline u32 tid_x() { return machine::self().tid; }
inline u32 laneid() { return machine::self().lane(); }
inline u32 ctaid_x() { return machine::self().block->x; }
inline u32 ctaid_y() { return machine::self().block->y; }
inline u32 nctaid_x() { return machine::self().cluster->settings().grid.x; }
inline u32 nctaid_y() { return machine::self().cluster->settings().grid.y; }
inline u32 cluster_ctarank() { return machine::self().block->rank; }
inline u32 cluster_nctarank() { return static_cast<u32>(machine::self().cluster->blocks().size()); }

}  // namespace fp8twin
