// The model GEMM, each path of it, against Eigen's single-precision product of the same shape on the same threads.
//
// One iteration times both, one after the other, so that a machine with other work to do slows both. Counters:
//
//   multiply_adds   of the model, a second
//   eigen           multiply-adds of Eigen's product, a second: the median over the iterations
//   of_eigen        the model's throughput over Eigen's built for the same instructions: the median of the pairs
//   of_limit        the model's throughput over what its inner loop could do at best: see limit()
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/bench/eigen_product.hpp"
#include "emulator/bench/operands.hpp"
#include "emulator/bench/peak.hpp"
#include "emulator/bench/timing.hpp"
#include "emulator/model/gemm.hpp"
#include "emulator/support/parallel.hpp"

namespace {

using namespace fp8twin;
using bench::median, bench::seconds;

struct GemmShape {
  std::int64_t m, n, k;
  int threads;
  explicit GemmShape(const benchmark::State& state)
      : m(state.range(0)), n(state.range(1)), k(state.range(2)), threads(static_cast<int>(state.range(3))) {}
  double multiply_adds() const { return static_cast<double>(m * n * k); }
};

/// Multiply-adds a second if the units that compute on registers never waited: the rate at which the threads, now, do
/// independent fused multiply-adds, over the instructions that one register's lanes of one k cost.
///
///   2            fused multiply-adds, T and P
///   0.5          the byte-wise sum and maximum for E: two instructions for four registers of columns
///   13.75 / 32   before and after the 32 k of a step: nine that make M, T and P, four that make the result, and three on
///                bytes for four registers
double limit([[maybe_unused]] Simd simd, [[maybe_unused]] int threads) {
#if defined(__x86_64__)
  constexpr double instructions = 2 + 0.5 + 13.75 / 32;
  constexpr std::int64_t rounds = 4'000'000;  // some 20 ms: threads need a while to find a core each
  const bool wide = simd == Simd::avx512;
  const double took = seconds([&] {
    parallel_for(threads, threads, [&](std::int64_t, int) {
      benchmark::DoNotOptimize(wide ? bench::peak_avx512(rounds) : bench::peak_avx2(rounds));
    });
  });
  const double registers =
      static_cast<double>(threads) * static_cast<double>(rounds * bench::peak_round) / took;
  return registers * (wide ? 16 : 8) / instructions;
#else
  return 1;  // no vector path, so nobody asks
#endif
}

void gemm_model(benchmark::State& state, Simd simd) {
  const GemmShape shape(state);
  const bench::Operands operands(shape.m, shape.n, shape.k);
  const auto eigen = bench::eigen_for(simd, shape.m, shape.n, shape.k, shape.threads);
  std::vector<std::byte> d(static_cast<std::size_t>(2 * shape.m * shape.n));
  const GemmOptions options{.threads = shape.threads, .simd = simd};
  std::vector<double> eigen_rate, of_eigen, of_limit;
  for (auto _ : state) {
    const double yardstick = seconds([&] { eigen->run(); });
    const double ours = seconds([&] {
      gemm(operands.problem(), DType::bf16, d, options);
      benchmark::DoNotOptimize(d.data());
    });
    state.SetIterationTime(ours);
    eigen_rate.push_back(shape.multiply_adds() / yardstick);
    of_eigen.push_back(yardstick / ours);
    if (simd != Simd::portable) of_limit.push_back(shape.multiply_adds() / ours / limit(simd, shape.threads));
  }
  using benchmark::Counter;
  state.counters["multiply_adds"] =
      Counter(shape.multiply_adds(), Counter::kIsIterationInvariantRate, Counter::kIs1000);
  state.counters["eigen"] = Counter(median(eigen_rate), Counter::kDefaults, Counter::kIs1000);
  state.counters["of_eigen"] = median(of_eigen);
  if (!of_limit.empty()) state.counters["of_limit"] = median(of_limit);
}

/// The same with special values in every 16th row and column; `of_plain` is its throughput over the plain problem's.
void gemm_special(benchmark::State& state, Simd simd) {
  const GemmShape shape(state);
  const bench::Operands plain(shape.m, shape.n, shape.k);
  bench::Operands special(shape.m, shape.n, shape.k);
  special.make_special();
  std::vector<std::byte> d(static_cast<std::size_t>(2 * shape.m * shape.n));
  const GemmOptions options{.threads = shape.threads, .simd = simd};
  std::vector<double> of_plain;
  for (auto _ : state) {
    const double before = seconds([&] { gemm(plain.problem(), DType::bf16, d, options); });
    const double ours = seconds([&] { gemm(special.problem(), DType::bf16, d, options); });
    state.SetIterationTime(ours);
    of_plain.push_back(before / ours);
  }
  state.counters["of_plain"] = median(of_plain);
}

/// Registered by hand: which paths there are, the processor decides.
const bool registered = [] {
  for (const Simd simd : simd_here()) {
    auto* each = benchmark::RegisterBenchmark(("gemm_model/" + std::string(simd_name(simd))).c_str(),
                                              gemm_model, simd);
    each->ArgNames({"m", "n", "k", "threads"})->UseManualTime()->Unit(benchmark::kMillisecond);
    each->Args({128, 128, 512, 1})->Args({64, 2112, 1024, 2})->Args({512, 512, 4096, 2});
    each->Args({2048, 2048, 2048, 1})->Args({2048, 2048, 2048, 2})->Args({4096, 7168, 2048, 2});
    benchmark::RegisterBenchmark(("gemm_special/" + std::string(simd_name(simd))).c_str(), gemm_special, simd)
        ->ArgNames({"m", "n", "k", "threads"})
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Args({512, 512, 4096, 2});
  }
  return true;
}();

}  // namespace
