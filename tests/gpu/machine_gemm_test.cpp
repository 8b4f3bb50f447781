// The ladder on the emulated machine: every step gives the model's bits, whatever the schedule, and no checker speaks.
#include "gpu/launch/machine_gemm.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/gpu/random_gemm.hpp"

using namespace fp8twin;
using test::RandomGemm;

namespace {

constexpr machine::Schedule schedules[] = {machine::Schedule::earliest, machine::Schedule::latest,
                                           machine::Schedule::mixed, machine::Schedule::random};

std::size_t differing(const std::vector<u8>& a, const std::vector<u8>& b) {
  REQUIRE(a.size() == b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

void check(const RandomGemm& problem, const GemmConfig& config, machine::Schedule schedule, u64 seed,
           u32 multiprocessors = 4) {
  INFO(config.name() << ", M " << problem.m << " N " << problem.n << " K " << problem.k << ", schedule "
                     << static_cast<int>(schedule) << " seed " << seed);
  const LaunchPlan plan = plan_gemm(problem.m, problem.n, problem.k, config, multiprocessors);
  MachineGemmOptions options;
  options.launch.schedule = schedule;
  options.launch.seed = seed;
  options.launch.threads = 1;
  const MachineGemmResult result = run_on_machine(plan, problem.operands(), options);
  CHECK(differing(result.d, problem.model(config.output_f32)) == 0);
}

// A switch of stacks is slow under AddressSanitizer, which looks at memory, not at orders: fewer runs there.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t one_of = 7;
constexpr u64 seeds = 1;
#else
constexpr std::size_t one_of = 1;
constexpr u64 seeds = 5;
#endif

/// One tile and one cluster of a step, every kind of it; one of so many.
std::vector<GemmConfig> some_configs(int step) {
  std::vector<GemmConfig> some;
  std::size_t seen = 0;
  for (const GemmConfig& config : accepted_configs(step)) {
    const bool alone = config.cluster_m * config.cluster_n == 1;
    const bool taken = step < 8
                           ? config.tile_n == 16 || config.tile_n == 112 || (step == 7 && config.tile_n == 24)
                           : (config.tile_n == 32 && !config.output_f32) || (config.tile_n == 112 && alone);
    if (taken && seen++ % one_of == 0) some.push_back(config);
  }
  return some;
}

}  // namespace

TEST_CASE("every step, every kind of tile and cluster: the model's bits, tails in every direction") {
  for (int step = first_step; step <= last_step; ++step) {
    const RandomGemm tails(131, 126, 336, Distribution::adversarial, 7);
    for (const GemmConfig& config : some_configs(step)) check(tails, config, machine::Schedule::random, 1);
  }
}

TEST_CASE("one K block, fewer than stages, none; one row, one column; nothing at all") {
  for (int step = first_step; step <= last_step; ++step) {
    for (const bool f32 : {false, true}) {
      const GemmConfig config = default_config(step, 64, 64, 128, f32, 4);
      for (const i64 k : {i64{0}, i64{1}, i64{128}, i64{256}}) {
        check(RandomGemm(65, 40, k, Distribution::normal, 3), config, machine::Schedule::latest, 1);
      }
      check(RandomGemm(1, 1, 128, Distribution::uniform, 3), config, machine::Schedule::random, 2);
      check(RandomGemm(0, 5, 128, Distribution::uniform, 3), config, machine::Schedule::random, 2);
      check(RandomGemm(5, 0, 128, Distribution::uniform, 3), config, machine::Schedule::random, 2);
    }
  }
}

TEST_CASE("every step twenty times: four schedules, five seeds each") {
  const RandomGemm problem(70, 72, 400, Distribution::normal, 11);
  for (int step = first_step; step <= last_step; ++step) {
    GemmConfig config{
        .step = step, .tile_m = 64, .tile_n = 16, .stages = step < 3 ? 1u : 2u, .output_f32 = step % 2 == 0};
    if (step >= 6) config.cluster_m = 2;
    for (const machine::Schedule schedule : schedules) {
      for (u64 seed = 1; seed <= seeds; ++seed) check(problem, config, schedule, seed, 2);
    }
  }
}

TEST_CASE("tiles that straddle scale blocks, and tiles wider than one") {
  const RandomGemm problem(64, 600, 160, Distribution::normal, 5);
  for (const u32 tile_n : {104u, 136u, 152u, 176u, 192u}) {
    for (const int step : {1, 7, 8}) {
      GemmConfig config{.step = step, .tile_m = 64, .tile_n = tile_n, .stages = step == 1 ? 1u : 2u};
      check(problem, config, machine::Schedule::random, 1);
    }
  }
}

TEST_CASE("a K of several windows of B's scales, and K that ends with a window; then another tile") {
  for (const i64 k : {i64{32 * 128}, i64{65 * 128 - 5}}) {
    const RandomGemm problem(40, 40, k, Distribution::normal, 6);
    const auto by_one_block = [&](const GemmConfig& config, machine::Schedule schedule) {
      check(problem, config, schedule, 1, 1);
    };
    by_one_block({.step = 8, .tile_m = 64, .tile_n = 24, .stages = 3}, machine::Schedule::random);
    by_one_block({.step = 8, .tile_m = 256, .tile_n = 8, .stages = 2}, machine::Schedule::mixed);
    by_one_block({.step = 8, .tile_m = 64, .tile_n = 16, .stages = 2, .in_flight = 8},
                 machine::Schedule::latest);
    by_one_block({.step = 9, .tile_m = 64, .tile_n = 16, .stages = 2, .in_flight = 4},
                 machine::Schedule::random);
  }
}

TEST_CASE("staging meets no bank twice, for every width of panel") {
  const RandomGemm problem(128, 200, 128, Distribution::normal, 5);
  for (const bool f32 : {false, true}) {
    for (const u32 tile_n : {8u, 16u, 24u, 32u, 48u, 64u, 72u, 128u}) {
      for (const int step : {7, 8, 9}) {
        const GemmConfig config{
            .step = step, .tile_m = 128, .tile_n = tile_n, .stages = 2, .output_f32 = f32};
        INFO(config.name());
        const MachineGemmResult result =
            run_on_machine(plan_gemm(problem.m, problem.n, problem.k, config, 2), problem.operands());
        REQUIRE_FALSE(result.report.bank_notes.empty());
        for (const machine::BankNote& note : result.report.bank_notes) {
          INFO(note.instruction << " " << note.site.file << ":" << note.site.line);
          CHECK(note.extra_wavefronts == 0);
        }
      }
    }
  }
}
