// elect.sync: true in one lane of the warp. PTX ISA, "elect.sync". The card elects the lowest lane of the mask; so does this.
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline bool elect_sync(u32 mask, machine::Site site = machine::Site::here()) {
  machine::Thread& thread = machine::self();
  machine::need_full_mask(thread, "elect.sync", mask, site);
  machine::warp_collective(thread, "elect.sync", mask, {}, false, {}, site);
  return thread.lane() == 0;
}

}  // namespace fp8twin
