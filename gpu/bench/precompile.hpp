// Kernels compiled before a card is there: into the disk cache, which travels to one.
#pragma once

#include <string>
#include <vector>

#include "gpu/bench/shapes.hpp"

namespace fp8twin::bench {

/// Compiles what `configs` selects (candidates.hpp) for each shape, says how many, and how many were refused. Needs NVRTC alone.
/// The exit status: 1 where one was refused. Throws Error where the cache cannot be written.
int precompile(const std::vector<Shape>& shapes, const std::string& configs, int threads);

}  // namespace fp8twin::bench
