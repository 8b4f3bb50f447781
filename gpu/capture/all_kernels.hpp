// Every kernel of the project in every configuration that anything runs: what CI compiles.
#pragma once

#include <vector>

#include "gpu/jit/kernels.hpp"

namespace fp8twin::capture {

std::vector<jit::Source> all_kernels();

}  // namespace fp8twin::capture
