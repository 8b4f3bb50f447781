// Runs the first kernels of the ladder on host arrays: upload, launch, download.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/jit/kernels.hpp"
#include "gpu/launch/kernel_cache.hpp"

namespace fp8twin {

/// The operands of one 1D2D problem on the card.
struct DeviceGemm {
  std::int64_t m, n, k;
  Buffer<std::uint8_t> a, b;
  Buffer<float> a_scale, b_scale;

  DeviceGemm(std::int64_t m, std::int64_t n, std::int64_t k, std::span<const std::uint8_t> a,
             std::span<const float> a_scale, std::span<const std::uint8_t> b, std::span<const float> b_scale);
};

/// gemm_1_one_tile over the whole problem, into `d`: m*n codes of 2 bytes (BF16) or 4 (FP32). Does not wait.
void launch_gemm_1_one_tile(KernelCache& kernels, const DeviceGemm& problem, const GemmConfig& config,
                            const Buffer<std::uint8_t>& d);

/// A chain of wgmma on each of several tiles: a [tiles,64,K], b [tiles,N,K], c [tiles,64,N]; the result is
/// shaped as c.
std::vector<float> run_wgmma_chain(KernelCache& kernels, const jit::ChainConfig& config,
                                   std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                   std::span<const float> c, bool scale_d);

}  // namespace fp8twin
