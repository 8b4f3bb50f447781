// The text that NVRTC compiles for the kernels quantize and scale_layout: one entry for each recipe, scale format, block
// shape and type of x.
#pragma once

#include <vector>

#include "emulator/number/recipe.hpp"
#include "gpu/jit/kernels.hpp"
#include "gpu/kernels/quantize_config.hpp"

namespace fp8twin::jit {

/// Its one entry is called as the source is. `block_rows`: 1 or 128.
Source quantize_source(const Recipe& recipe, ScaleFormat format, std::int64_t block_rows, InputFormat input);

/// All of them: a translation unit for each recipe and type of x, with four entries.
std::vector<Source> quantize_sources();

Source scale_layout_source();

}  // namespace fp8twin::jit
