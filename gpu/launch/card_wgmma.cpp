#include "gpu/launch/card_wgmma.hpp"

#include "gpu/kernels/arguments.hpp"

namespace fp8twin {

std::vector<float> run_wgmma_chain(KernelCache& kernels, const jit::ChainConfig& config,
                                   std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                   std::span<const float> c, bool scale_d) {
  const Buffer<std::uint8_t> device_a(a), device_b(b);
  const Buffer<float> device_c(c);
  Buffer<float> device_d(c.size());
  device_d.fill(0xff);
  const unsigned tiles = static_cast<unsigned>(c.size() / (64 * static_cast<std::size_t>(config.n)));
  const u32 shared_bytes =
      wgmma_chain_shared_bytes(static_cast<u32>(config.n), static_cast<u32>(config.k_steps));
  kernels.get(jit::wgmma_chain_source(config), config.name())
      .launch({tiles, 1}, 128, shared_bytes,
              WgmmaArguments{device_a.device(), device_b.device(), device_c.device(), device_d.device(),
                             scale_d});
  return device_d.download();
}

}  // namespace fp8twin
