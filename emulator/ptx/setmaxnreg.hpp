// setmaxnreg: a warpgroup gives registers back, or waits until it may have more. PTX ISA, "setmaxnreg".
//
// Modelled as an account: 64 K registers a multiprocessor, one block; an increase waits until they are there.
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

template <u32 Registers>
inline void setmaxnreg_inc(machine::Site site = machine::Site::here()) {
  machine::set_max_registers(machine::self(), Registers, true, site);
}

template <u32 Registers>
inline void setmaxnreg_dec(machine::Site site = machine::Site::here()) {
  machine::set_max_registers(machine::self(), Registers, false, site);
}

}  // namespace fp8twin
