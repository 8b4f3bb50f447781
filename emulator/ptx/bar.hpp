// bar.sync, bar.arrive: a named barrier of the block; bar.warp.sync: the lanes of a warp. PTX ISA, "bar, barrier", "bar.warp.sync".
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline void bar_sync(u32 id, u32 threads, machine::Site site = machine::Site::here()) {
  machine::named_barrier(machine::self(), id, threads, true, site);
}

inline void bar_arrive(u32 id, u32 threads, machine::Site site = machine::Site::here()) {
  machine::named_barrier(machine::self(), id, threads, false, site);
}

/// All 32 lanes: a partial mask is not modelled.
inline void bar_warp_sync(u32 mask, machine::Site site = machine::Site::here()) {
  machine::need_full_mask(machine::self(), "bar.warp.sync", mask, site);
  machine::warp_collective(machine::self(), "bar.warp.sync", mask, {}, true, {}, site);
}

}  // namespace fp8twin
