// One launch of gpu/kernels/wgmma_chain.hpp on the emulated machine.
#pragma once

#include "emulator/engine/wgmma_chunks.hpp"
#include "emulator/machine/launch.hpp"

namespace fp8twin {

/// d [64, n] is read as the accumulators and written. Throws machine::Fault.
void run_wgmma_on_machine(const WgmmaChunk& chunk, std::vector<float>& d, machine::LaunchOptions options);

}  // namespace fp8twin
