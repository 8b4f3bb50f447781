#include "gpu/launch/gemm.hpp"

#include <fmt/format.h>

#include "emulator/support/error.hpp"
#include "gpu/kernels/arguments.hpp"

namespace fp8twin {

DeviceGemm::DeviceGemm(std::int64_t m_, std::int64_t n_, std::int64_t k_, std::span<const std::uint8_t> a_,
                       std::span<const float> a_scale_, std::span<const std::uint8_t> b_,
                       std::span<const float> b_scale_)
    : m(m_), n(n_), k(k_), a(a_), b(b_), a_scale(a_scale_), b_scale(b_scale_) {}

void launch_gemm_1_one_tile(KernelCache& kernels, const DeviceGemm& problem, const jit::GemmConfig& config,
                            const Buffer<std::uint8_t>& d) {
  const auto extent = [](std::int64_t value, const char* name) {
    if (value < 0 || value > INT32_MAX)
      throw Error(fmt::format("{} is {}: the kernel takes 0 to 2^31-1", name, value));
    return static_cast<u32>(value);
  };
  const u32 m = extent(problem.m, "M"), n = extent(problem.n, "N"), k = extent(problem.k, "K");
  if (m == 0 || n == 0) return;  // nothing to store
  const u32 tile_n = static_cast<u32>(config.tile_n);
  const Grid grid{(m + 63) / 64, (n + tile_n - 1) / tile_n};
  if (grid.y > 65535)
    throw Error(fmt::format("N is {}: with tiles of {} the grid ends at {}", n, tile_n, 65535u * tile_n));
  const GemmArguments arguments{problem.a.device(),
                                problem.a_scale.device(),
                                problem.b.device(),
                                problem.b_scale.device(),
                                d.device(),
                                m,
                                n,
                                k};
  kernels.get(jit::gemm_1_one_tile_source(config), config.name())
      .launch(grid, 128, gemm_1_one_tile_shared_bytes(tile_n), arguments);
}

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
