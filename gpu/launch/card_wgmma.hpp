// Runs a chain of wgmma on the card: upload, launch, download. Its twin is machine_wgmma.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/jit/kernels.hpp"
#include "gpu/launch/kernel_cache.hpp"

namespace fp8twin {

/// A chain of wgmma on each of several tiles: a [tiles,64,K], b [tiles,N,K], c [tiles,64,N]; the result is
/// shaped as c.
std::vector<float> run_wgmma_chain(KernelCache& kernels, const jit::ChainConfig& config,
                                   std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                   std::span<const float> c, bool scale_d);

}  // namespace fp8twin
