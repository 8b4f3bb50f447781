#include "emulator/engine/machine_wgmma.hpp"

#include "gpu/kernels/wgmma_chain.hpp"

namespace fp8twin {

void run_wgmma_on_machine(const WgmmaChunk& chunk, std::vector<float>& d, machine::LaunchOptions options) {
  using Access = machine::GlobalMemory::Access;
  const std::vector<float> c = d;
  machine::GlobalMemory memory;
  memory.add("a", chunk.a.data(), chunk.a.size(), Access::read);
  memory.add("b", chunk.b.data(), chunk.b.size(), Access::read);
  memory.add("c", c.data(), 4 * c.size(), Access::read);
  memory.add("d", d.data(), 4 * d.size(), Access::write);
  options.memory = &memory;

  const MachineChainConfig config{.n = chunk.n, .k_steps = chunk.k_steps};
  machine::launch(
      {1, 1}, {1, 1}, warpgroup, wgmma_chain_shared_bytes(config.n, config.k_steps),
      [&](const WgmmaArguments& w) { wgmma_chain(config, w); },
      WgmmaArguments{chunk.a.data(), chunk.b.data(), c.data(), d.data(), chunk.scale_d}, options);
}

}  // namespace fp8twin
