// redux.sync.max.u32: the largest of a register over the lanes of a warp, in every lane. PTX ISA, "redux.sync".
#pragma once

#include <algorithm>

#include "emulator/machine/operations.hpp"

namespace fp8twin {

/// All 32 lanes: a partial mask is not modelled.
inline u32 redux_sync_max_u32(u32 value, u32 mask, machine::Site site = machine::Site::here()) {
  machine::Thread& thread = machine::self();
  machine::need_full_mask(thread, "redux.sync", mask, site);
  u32 largest = 0;
  for (const auto& lane :
       machine::warp_collective(thread, "redux.sync.max.u32", mask, {value}, false, {}, site)) {
    largest = std::max(largest, lane[0]);
  }
  return largest;
}

}  // namespace fp8twin
