// On a machine with an H100 or H200: the kernels' bits against the model's, on fresh inputs. Elsewhere:
// skipped.
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "fp8twin/model.hpp"
#include "gpu/launch/card_gemm.hpp"
#include "gpu/launch/card_wgmma.hpp"
#include "gpu/launch/driver.hpp"
#include "gpu/launch/machine_gemm.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/have_gpu.hpp"
#include "tests/gpu/random_gemm.hpp"

using namespace fp8twin;

namespace {

template <class T>
std::size_t differing(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += std::memcmp(&a[i], &b[i], sizeof(T)) != 0;
  return count;
}

std::size_t wrong_bytes(KernelCache& kernels, const test::RandomGemm& problem, const GemmConfig& config,
                        u32 multiprocessors) {
  const LaunchPlan plan = plan_gemm(problem.m, problem.n, problem.k, config, multiprocessors);
  return differing(run_on_card(kernels, plan, problem.operands()).d, problem.model(config.output_f32));
}

/// Steps 8 and 9: streams of one, two and three warpgroups and of two slabs each, batches, large clusters. FP32 leaves fewer
/// registers for sums.
std::vector<GemmConfig> loops_of_the_last_steps(bool f32 = false) {
  return {{.step = 8, .tile_m = 64, .tile_n = 104},
          {.step = 8, .tile_m = 128, .tile_n = f32 ? 112u : 176u, .cluster_m = 2},
          {.step = 8, .tile_m = 192, .tile_n = f32 ? 88u : 128u},
          {.step = 8, .tile_m = 256, .tile_n = 64, .cluster_n = 2},
          {.step = 8, .tile_m = 64, .tile_n = 32, .cluster_m = 2, .cluster_n = 2, .in_flight = 4},
          {.step = 9, .tile_m = 128, .tile_n = 32, .cluster_m = 2},
          {.step = 9, .tile_m = 64, .tile_n = 16, .in_flight = 8},
          {.step = 9, .tile_m = 64, .tile_n = 64, .cluster_n = 4, .in_flight = 2}};
}

}  // namespace

TEST_CASE("few blocks, many tiles each: what is carried from tile to tile, on the card") {
  if (!test::have_gpu()) return;
  const Device device;
  KernelCache kernels;
  const test::RandomGemm problem(700, 1000, 1040, Distribution::adversarial, 77);
  for (const bool f32 : {false, true}) {
    std::vector<GemmConfig> configs = loops_of_the_last_steps(f32);
    for (int step = 5; step <= last_step; ++step) {
      configs.push_back(default_config(step, problem.m, problem.n, problem.k, f32, 4));
    }
    for (GemmConfig config : configs) {
      config.output_f32 = f32;
      for (const u32 stages : {2u, most_stages(config)}) {
        config.stages = stages;
        INFO(config.name());
        CHECK(wrong_bytes(kernels, problem, config, 4) == 0);
      }
    }
  }
}

TEST_CASE("a K of several windows of scales, on the card") {
  if (!test::have_gpu()) return;
  const Device device;
  KernelCache kernels;
  for (const i64 k : {i64{32 * 128}, i64{32 * 128 + 16}, i64{70 * 128 - 5}}) {
    const test::RandomGemm problem(130, 392, k, Distribution::uniform, 78);
    for (GemmConfig config : loops_of_the_last_steps()) {
      config.stages = most_stages(config);
      INFO(config.name() << " K " << k);
      CHECK(wrong_bytes(kernels, problem, config, 4) == 0);
    }
  }
}

TEST_CASE("the trace of the card is the trace of the machine") {
  if (!test::have_gpu()) return;
  const Device device;
  KernelCache kernels;
  const test::RandomGemm problem(200, 100, 336, Distribution::normal, 9);
  std::vector<GemmConfig> configs = loops_of_the_last_steps();
  for (GemmConfig& config : configs) config.stages = 2;
  for (int step = first_step; step <= last_step; ++step) {
    configs.push_back(default_config(step, problem.m, problem.n, problem.k, false, 4));
  }
  for (GemmConfig& config : configs) {
    config.trace = true;
    const LaunchPlan plan = plan_gemm(problem.m, problem.n, problem.k, config, 4);
    // A tile that hangs over D's end.
    const u32 last_m = config.swapped() ? 0 : (plan.m - 1) / config.tile_m,
              last_n = config.swapped() ? (plan.n - 1) / config.tile_m : 0;
    INFO(config.name());
    const GemmResult card =
        run_on_card(kernels, plan, problem.operands(), {.trace = {.tile_m = last_m, .tile_n = last_n}});
    const MachineGemmResult machine =
        run_on_machine(plan, problem.operands(), {.trace = {.tile_m = last_m, .tile_n = last_n}});
    CHECK(differing(card.trace, machine.trace) == 0);
    CHECK(differing(card.d, machine.d) == 0);
  }
}

TEST_CASE("wgmma on the card: the model's bits") {
  if (!test::have_gpu()) return;
  const Device device;
  KernelCache kernels;
  for (const int n : {8, 104, 256}) {
    for (const Distribution distribution :
         {Distribution::uniform, Distribution::any_c, Distribution::row_exponent}) {
      INFO("N " << n << " " << distribution_name(distribution));
      const auto size = [](int count) { return static_cast<std::size_t>(count); };
      std::vector<std::uint8_t> a(size(64 * 128)), b(size(n * 128));
      std::vector<float> c(size(64 * n)), model(c.size());
      fill_codes(distribution, 5, Operand::a, 128, a);
      fill_codes(distribution, 5, Operand::b, 128, b);
      fill_c(distribution, 5, c);
      wgmma(n, 128, a, b, c, model);
      CHECK(differing(run_wgmma_chain(kernels, {n, 4, 1, 1, false}, a, b, c, true), model) == 0);
      CHECK(differing(run_wgmma_chain(kernels, {n, 4, 1, 1, true}, a, b, c, true), model) == 0);
      wgmma(n, 128, a, b, {}, model);
      CHECK(differing(run_wgmma_chain(kernels, {n, 4, 1, 1, false}, a, b, c, false), model) == 0);
    }
  }
}
