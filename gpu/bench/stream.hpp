// How fast the card reads memory: the floor of a memory-bound kernel. device/stream_read.hpp does it.
#pragma once

#include <cstddef>

#include "gpu/bench/contest.hpp"

namespace fp8twin::bench {

struct StreamResult {
  std::size_t bytes = 0;
  unsigned blocks = 0;  // of the grid that was fastest
  Summary us;
  double bytes_per_second() const {
    return us.median > 0 ? static_cast<double>(bytes) / (1e-6 * us.median) : 0;
  }
};

/// Reads `bytes` (a multiple of 16) once in each run, cold like a GEMM in a contest, with one, two and three blocks a
/// multiprocessor; says which was fastest.
StreamResult read_stream(Contest& contest, KernelCache& kernels, const Device& device, std::size_t bytes,
                         int rounds);

}  // namespace fp8twin::bench
