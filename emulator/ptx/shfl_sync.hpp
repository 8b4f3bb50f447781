// shfl.sync.idx.b32: the value of another lane. PTX ISA, "shfl.sync".
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline u32 shfl_sync_idx_b32(u32 value, u32 lane, u32 mask, machine::Site site = machine::Site::here()) {
  machine::Thread& thread = machine::self();
  machine::need_full_mask(thread, "shfl.sync", mask, site);
  return machine::warp_collective(thread, "shfl.sync.idx", mask, {value}, false, {}, site)[lane % 32][0];
}

}  // namespace fp8twin
