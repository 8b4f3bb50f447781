// A kernel that does nothing: what a launch costs, and the shortest time that a clock shows. It takes part in programmatic
// dependent launch: it lets the next one begin at once, and waits for the one in front.
#pragma once

#include "gpu/bench/device/arguments.hpp"
#include "gpu/ptx/griddepcontrol.hpp"

namespace fp8twin::bench {

template <class Config>
FP8TWIN_DEVICE void empty(Config, const EmptyArguments&) {
  griddepcontrol_launch_dependents();
  griddepcontrol_wait();
}

}  // namespace fp8twin::bench
