#include "gpu/launch/gemm.hpp"

#include "gpu/kernels/arguments.hpp"
#include "gpu/launch/plan.hpp"

namespace fp8twin {

DeviceGemm::DeviceGemm(std::int64_t m_, std::int64_t n_, std::int64_t k_, std::span<const std::uint8_t> a_,
                       std::span<const float> a_scale_, std::span<const std::uint8_t> b_,
                       std::span<const float> b_scale_)
    : m(m_), n(n_), k(k_), a(a_), b(b_), a_scale(a_scale_), b_scale(b_scale_) {}

void launch_gemm_1_one_tile(KernelCache& kernels, const DeviceGemm& problem, const GemmConfig& config,
                            const Buffer<std::uint8_t>& d) {
  const LaunchPlan plan = plan_gemm(problem.m, problem.n, problem.k, config, 1);
  if (plan.grid_x == 0) return;  // nothing to store
  kernels.get(jit::gemm_source(config), config.name())
      .launch({plan.grid_x, plan.grid_y}, plan.threads, plan.shared_bytes,
              arguments_of(plan, problem.a.device(), problem.a_scale.device(), problem.b.device(),
                           problem.b_scale.device(), d.device(), {}));
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
