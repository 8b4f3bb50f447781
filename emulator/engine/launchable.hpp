// A problem as the kernels see it: the product of gpu/launch, and its arrays.
#pragma once

#include "emulator/engine/engine.hpp"
#include "emulator/model/problem.hpp"
#include "gpu/launch/gemm_data.hpp"

namespace fp8twin {

/// What a configuration must know of a problem of this kind.
ProductForm product_form(Kind kind, std::int64_t b_scale_rows, bool has_c);

/// Of every kind but wgmma. Throws Error for more groups than a launch takes.
Product product_of(const Problem& problem);

/// The problem's tensors; they stay the problem's.
GemmOperands operands_of(const Problem& problem);

/// Which tile the run's trace follows.
inline TraceArguments trace_arguments(const RunOptions& options) {
  return {.tile_m = options.trace_tile_m, .tile_n = options.trace_tile_n, .group = options.trace_group};
}

}  // namespace fp8twin
