// griddepcontrol: one grid may begin before the grid in front of it has ended. PTX ISA, "griddepcontrol".
//
//   griddepcontrol_launch_dependents()   the next grid may start, as far as this block is concerned
//   griddepcontrol_wait()                until the grids in front have ended and their writes are visible
//
// Both do nothing in a launch that did not ask for it.
#pragma once

#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE void griddepcontrol_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

FP8TWIN_DEVICE void griddepcontrol_launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace fp8twin
