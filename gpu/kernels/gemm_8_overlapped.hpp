// Step 8: nothing waits for the epilogue, and a tile may be 256 rows high (overlap.hpp).
//
//   tile_m   consumer warpgroups   slabs of each    registers of P and total, tile_n = 128
//   64       1                     1                64 in_flight + 64
//   128      2                     1                64 in_flight + 64
//   192      3                     1                64 + 64 of 152
//   256      2                     2                64 + 128 of 232
//
// New against step 7: the stream of units, A's scales by TMA, clusters of more than two, the group of the raster chosen by
// the host, and programmatic dependent launch: barriers and tensor maps are made ready under the end of the grid in front.
//
// Config as in step 7, and slabs, in_flight.
#pragma once

#include "gpu/kernels/overlap.hpp"

namespace fp8twin {

template <class Config>
FP8TWIN_DEVICE void gemm_8_overlapped(Config config, const TmaGemmArguments& arguments) {
  gemm_overlapped(config, arguments);
}

}  // namespace fp8twin
