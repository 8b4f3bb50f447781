// One GEMM case on the card: every step of the ladder in several configurations, equal bits demanded, and the oracle's verdict.
#pragma once

#include "gpu/capture/capture.hpp"
#include "gpu/capture/gemm_cases.hpp"
#include "gpu/launch/configs.hpp"

namespace fp8twin::capture {

struct GemmVerdict {
  std::vector<std::uint8_t> d;  // what the first one stored: BF16 or FP32, row-major
  std::size_t configs = 0;
  std::uint64_t outputs = 0;  // compared with the oracle, over all of them
  std::uint64_t mismatches = 0;
  std::vector<Mismatch> first;
};

/// What runs: step 1 in several widths; of every other step each kind of cluster, and tiles that straddle scale blocks. Of
/// steps 8 and 9 streams of one and of two slabs, batches, and tiles of three warpgroups.
std::vector<GemmConfig> captured_configs(bool output_f32);
/// The kernels and the oracle, compiled.
void prepare_gemm_kernels(Session& session);
GemmVerdict run_gemm_case(Session& session, const GemmCase& gemm, const GemmData& data);

}  // namespace fp8twin::capture
