// shfl.sync.idx.b32: the value of another lane. PTX ISA, "shfl.sync".
#pragma once

#include "emulator/machine/operations.hpp"
#include "emulator/number/float_bits.hpp"

namespace fp8twin {

inline u32 shfl_sync_idx_b32(u32 value, u32 lane, u32 mask, machine::Site site = machine::Site::here()) {
  machine::Thread& thread = machine::self();
  machine::need_full_mask(thread, "shfl.sync", mask, site);
  return machine::warp_collective(thread, "shfl.sync.idx", mask, {value}, false, {}, site)[lane % 32][0];
}

inline float shfl_sync_idx_b32(float value, u32 lane, u32 mask, machine::Site site = machine::Site::here()) {
  return f32_from_bits(shfl_sync_idx_b32(f32_bits(value), lane, mask, site));
}

}  // namespace fp8twin
