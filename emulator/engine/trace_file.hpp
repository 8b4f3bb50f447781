// A trace as a file: the words that a launch's probes wrote (gpu/kernels/trace_layout.hpp), as tensors with names.
//
//   a_tile       U8  [k_blocks, tile_m, 128]            b_tile    U8  [k_blocks, tile_n, 128]    as in shared memory
//   accumulator  F32 [k_blocks, 4, threads, tile_n/2]   promoted  F32 [k_blocks, threads, tile_n/2]
//   output       BF16 or F32 [tile_m, tile_n]
//
// Of step 9 a_tile has rows of B, b_tile rows of A, and the output is a tile of D transposed.
//
// Metadata: kind "trace", m, n, k, kernel, tile, stages, cluster, from step 8 on in_flight, output, trace_tile, of grouped
// problems trace_group, and kernels, the digest of the kernels' sources. emulator/report/trace.hpp reads it; docs/files.md has
// the page.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "emulator/files/tensor.hpp"
#include "gpu/launch/configs.hpp"

namespace fp8twin {

/// "128x64"
std::string extents_text(std::uint32_t rows, std::uint32_t columns);
/// kernel, tile, stages, cluster, from step 8 on in_flight, and kernels, as results and traces carry them.
Metadata config_metadata(const GemmConfig& config);

struct TracedRun {
  std::int64_t m = 0, n = 0, k = 0;
  GemmConfig config;
  std::uint32_t tile_m = 0, tile_n = 0;  // the traced tile of D, along M and along N
  std::uint32_t group = 0;               // of which m and k are
};

/// `metadata`: what the run says of itself (engine, device, seed, ...).
void write_trace_file(const std::string& path, const TracedRun& run, std::span<const std::uint32_t> words,
                      Metadata metadata);

}  // namespace fp8twin
