// The emulated SM90: what a switch of threads costs, and the full kernel with and without its checkers. Counter `times_model` is how often
// the model's GEMM of the same problem, the best of three runs on one thread, would have fitted into the time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "emulator/bench/operands.hpp"
#include "emulator/machine/fiber.hpp"
#include "emulator/model/gemm.hpp"
#include "gpu/launch/machine_gemm.hpp"

namespace {

using namespace fp8twin;

/// A fiber that jumps home as often as it is jumped to.
struct Guest {
  machine::Fiber home;
  std::unique_ptr<machine::Fiber> fiber;
  bool over = false;

  static void entry(void* self) {
    Guest& guest = *static_cast<Guest*>(self);
    while (!guest.over) machine::Fiber::jump(*guest.fiber, guest.home);
  }
};

void context_switch(benchmark::State& state) {
  Guest guest;
  guest.fiber = std::make_unique<machine::Fiber>(&Guest::entry, &guest, guest.home);
  for (auto _ : state) machine::Fiber::jump(guest.home, *guest.fiber);  // there and back: two
  state.counters["seconds_a_switch"] =
      benchmark::Counter(2, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  guest.over = true;
  machine::Fiber::jump(guest.home, *guest.fiber);
}
BENCHMARK(context_switch);

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double model_seconds(const Problem& problem) {
  static std::map<std::int64_t, double> measured;
  auto [entry, fresh] = measured.try_emplace(problem.m, std::numeric_limits<double>::infinity());
  std::vector<std::byte> d(static_cast<std::size_t>(2 * problem.m * problem.n));
  for (int i = 0; fresh && i < 3; ++i) {
    const double start = now();
    gemm(problem, DType::bf16, d, {.threads = 1});
    entry->second = std::min(entry->second, now() - start);
  }
  return entry->second;
}

void gemm_machine(benchmark::State& state) {
  const std::int64_t size = state.range(0);
  const bench::Operands operands(size, size, size);
  const Problem& problem = operands.problem();
  const GemmConfig config = default_config(static_cast<int>(state.range(1)), size, size, size, false, 132);
  const LaunchPlan plan = plan_gemm(size, size, size, config, 132);
  MachineGemmOptions options;
  options.launch.checks = state.range(2) != 0;
  options.launch.threads = 1;
  const double yardstick = model_seconds(problem), start = now();
  for (auto _ : state) {
    const MachineGemmResult result =
        run_on_machine(plan, {problem.a, problem.a_scale, problem.b, problem.b_scale}, options);
    benchmark::DoNotOptimize(result.d.data());
  }
  const double each = (now() - start) / static_cast<double>(state.iterations());
  state.counters["multiply_adds"] =
      benchmark::Counter(static_cast<double>(size * size * size),
                         benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
  state.counters["times_model"] = each / yardstick;
}
BENCHMARK(gemm_machine)
    ->ArgNames({"size", "step", "checks"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({{512}, {1, 4, 7}, {0, 1}})
    ->Args({1024, 7, 0})
    ->Args({1024, 7, 1});

}  // namespace
