// Runs a chain of wgmma on the emulated SM90, through the same kernel as the card's (card_wgmma.hpp).
#pragma once

#include <span>
#include <vector>

#include "emulator/machine/launch.hpp"
#include "gpu/kernels/config.hpp"

namespace fp8twin {

/// a [tiles,64,K], b [tiles,N,K], c [tiles,64,N] with K = 32 k_steps; the result is shaped as c. With scale_d false c is
/// read and counts for nothing. The options' memory is set here.
std::vector<float> run_wgmma_chain_on_machine(const MachineChainConfig& config, std::span<const u8> a,
                                              std::span<const u8> b, std::span<const float> c, bool scale_d,
                                              machine::LaunchOptions options = {});

}  // namespace fp8twin
