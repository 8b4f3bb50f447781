// griddepcontrol: programmatic dependent launch. PTX ISA, "griddepcontrol". One grid runs at a time here: there is nothing to wait for,
// and nobody to launch.
#pragma once

namespace fp8twin {

inline void griddepcontrol_wait() {}
inline void griddepcontrol_launch_dependents() {}

}  // namespace fp8twin
