// On a machine with an H100 or H200: every configuration that the JIT offers, of every step of the ladder, gives the model's bits.
// Elsewhere: skipped.
#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu/jit/kernels.hpp"
#include "gpu/launch/card_gemm.hpp"
#include "gpu/launch/driver.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/have_gpu.hpp"
#include "tests/gpu/random_gemm.hpp"

using namespace fp8twin;

namespace {

struct Shape {
  i64 m, n, k;
  Distribution distribution;
};

// One element; fewer rows than a warpgroup; tails everywhere; a K of one block; more tiles than multiprocessors; no K
// at all; few rows and a K of several windows of scales.
constexpr Shape shapes[] = {{1, 1, 1, Distribution::normal},        {1, 8, 16, Distribution::uniform_nan},
                            {100, 136, 200, Distribution::uniform}, {257, 392, 128, Distribution::normal},
                            {333, 576, 400, Distribution::uniform}, {1000, 2056, 1040, Distribution::normal},
                            {65, 200, 0, Distribution::normal},     {9, 136, 8400, Distribution::uniform}};

u64 differing(const std::vector<u8>& found, const std::vector<u8>& expected, u64 element) {
  REQUIRE(found.size() == expected.size());
  u64 count = 0;
  for (u64 i = 0; i < found.size(); i += element) count += std::memcmp(&found[i], &expected[i], element) != 0;
  return count;
}

}  // namespace

TEST_CASE("every offered configuration on the card: the model's bits") {
  if (!test::have_gpu()) return;
  const Device device;
  KernelCache kernels;
  const std::vector<GemmConfig> configs = offered_configs();
  std::vector<jit::Source> sources;
  for (const GemmConfig& config : configs) sources.push_back(jit::gemm_source(config));
  kernels.prepare(sources, 0);

  for (const Shape& shape : shapes) {
    const test::RandomGemm problem(shape.m, shape.n, shape.k, shape.distribution,
                                   20 + static_cast<u64>(shape.m));
    for (const bool output_f32 : {false, true}) {
      const std::vector<u8> expected = problem.model(output_f32);
      for (const GemmConfig& config : configs) {
        if (config.output_f32 != output_f32) continue;
        INFO(config.name() << " M " << shape.m << " N " << shape.n << " K " << shape.k);
        const LaunchPlan plan =
            plan_gemm(shape.m, shape.n, shape.k, config, static_cast<u32>(device.multiprocessors()));
        CHECK(differing(run_on_card(kernels, plan, problem.operands()).d, expected, output_f32 ? 4 : 2) == 0);
      }
    }
  }
}
