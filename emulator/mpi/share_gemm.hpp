// One rank's share of the GEMM, computed band by band straight into the output file.
//
//   rectangle   [ band of rows ]  gemm_slice -> buffer -> write_rows      one buffer, at most 64 MiB of F32, whatever D is
//               [ next band    ]
//
// Of the operands only the pages that the rectangle needs are touched: they are mapped, not read.
#pragma once

#include <functional>
#include <span>

#include "emulator/model/gemm.hpp"
#include "emulator/model/shares.hpp"
#include "emulator/mpi/shared_output.hpp"

namespace fp8twin::mpi {

/// Outputs that a rank holds at once.
inline constexpr std::int64_t band_outputs = std::int64_t{1} << 24;

/// Where d lies in the output file.
struct Placement {
  std::int64_t begin;  // byte of d's first element
  std::int64_t n;      // elements in a row of d
  DType output;
};

/// Computes the share's rectangles of `slices` into `file`. `done` hears how much work (work_of) is done so far, from one
/// thread at a time. Throws Error.
void compute_share(std::span<const GemmSlice> slices, const Share& share, const Placement& d,
                   const GemmOptions& options, SharedOutput& file, const std::function<void(double)>& done);

}  // namespace fp8twin::mpi
