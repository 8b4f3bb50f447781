// Step 9, for few rows: weights on the 64-wide side (swapped.hpp says how, and why the bits are the same).
//
//   arguments.a    boxes of B's rows      tile_m = 64 or 128 of them
//   arguments.b    boxes of A's rows      tile_n = 8, 16, ... tokens
//   arguments.a_scale                     boxes of tile_n scales of A
//
// All else is step 8. A tile's row is a column of D here, and so it is in a trace, whose a_tile has rows of B.
//
// Config as in step 8, with swapped.
#pragma once

#include "gpu/kernels/overlap.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void gemm_9_swapped(Config config, const TmaGemmArguments& arguments) {
  gemm_overlapped(config, arguments);
}

}  // namespace fp8twin
