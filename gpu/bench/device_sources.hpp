// The benchmarks' own kernels as sources for NVRTC.
#pragma once

#include <fmt/format.h>

#include "gpu/bench/device/arguments.hpp"
#include "gpu/jit/kernels.hpp"

namespace fp8twin::bench {

inline jit::Source empty_source() {
  return jit::source_of("bench_empty", "gpu/bench/device/empty.hpp", {},
                        {{"bench_empty", "bench::empty", "bench::EmptyArguments", "", 32}});
}

inline constexpr unsigned stream_threads = 512;

inline jit::Source stream_source() {
  return jit::source_of(
      "bench_stream_read", "gpu/bench/device/stream_read.hpp", {},
      {{"bench_stream_read", "bench::stream_read", "bench::StreamArguments",
        fmt::format("static constexpr u32 threads = {};", stream_threads), stream_threads}});
}

}  // namespace fp8twin::bench
