#include "gpu/launch/machine_wgmma.hpp"

#include <fmt/format.h>

#include "gpu/kernels/wgmma_chain.hpp"

namespace fp8twin {

std::vector<float> run_wgmma_chain_on_machine(const MachineChainConfig& config, std::span<const u8> a,
                                              std::span<const u8> b, std::span<const float> c, bool scale_d,
                                              machine::LaunchOptions options) {
  if (config.n < 8 || config.n > 256 || config.n % 8 != 0) {
    throw Error(fmt::format("wgmma has no shape m64n{}k32: N is a multiple of 8 from 8 to 256", config.n));
  }
  const u64 tile = u64{64} * config.n, tiles = c.size() / tile, k = u64{32} * config.k_steps;
  if (c.size() != tiles * tile || a.size() != tiles * 64 * k || b.size() != tiles * config.n * k) {
    throw Error(
        fmt::format("a has {} elements, b {}, c {}: for N = {} and K = {} each tile needs {}, {} and {}",
                    a.size(), b.size(), c.size(), config.n, k, 64 * k, config.n * k, tile));
  }
  std::vector<float> d(c.size());
  if (tiles == 0 || k == 0) {
    if (scale_d) d.assign(c.begin(), c.end());
    return d;
  }
  using Access = machine::GlobalMemory::Access;
  machine::GlobalMemory memory;
  memory.add("a", a.data(), a.size(), Access::read);
  memory.add("b", b.data(), b.size(), Access::read);
  memory.add("c", c.data(), c.size_bytes(), Access::read);
  memory.add("d", d.data(), 4 * d.size(), Access::write);
  options.memory = &memory;
  machine::launch(
      {static_cast<u32>(tiles), 1}, {1, 1}, warpgroup, wgmma_chain_shared_bytes(config.n, config.k_steps),
      [&](const WgmmaArguments& arguments) { wgmma_chain(config, arguments); },
      WgmmaArguments{a.data(), b.data(), c.data(), d.data(), scale_d}, options);
  return d;
}

}  // namespace fp8twin
