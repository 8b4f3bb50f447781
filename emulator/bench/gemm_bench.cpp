// The model GEMM beside Eigen's single-precision product of the same shape: same compiler, same flags, same threads,
// same run. Counter `times_eigen` is how often Eigen's product, the best of five runs, would have fitted into the mean
// time; so Eigen itself, a mean too, shows about 1.
#include <benchmark/benchmark.h>

#include <Eigen/Dense>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "emulator/bench/operands.hpp"
#include "emulator/model/gemm.hpp"
#include "emulator/support/parallel.hpp"

namespace {

using namespace fp8twin;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct GemmShape {
  std::int64_t m, n, k;
  int threads;
  explicit GemmShape(const benchmark::State& state)
      : m(state.range(0)), n(state.range(1)), k(state.range(2)), threads(static_cast<int>(state.range(3))) {}
  auto operator<=>(const GemmShape&) const = default;
};

/// D = A B^T with rows of D split evenly among the threads.
class EigenProduct {
 public:
  explicit EigenProduct(const GemmShape& shape)
      : shape_(shape),
        a_(RowMajor::Random(shape.m, shape.k)),
        b_(RowMajor::Random(shape.n, shape.k)),
        d_(shape.m, shape.n) {}

  void run() {
    parallel_for(shape_.threads, shape_.threads, [&](std::int64_t part, int) {
      const std::int64_t begin = shape_.m * part / shape_.threads,
                         end = shape_.m * (part + 1) / shape_.threads;
      d_.middleRows(begin, end - begin).noalias() = a_.middleRows(begin, end - begin) * b_.transpose();
    });
    benchmark::DoNotOptimize(d_.data());
  }

 private:
  GemmShape shape_;
  RowMajor a_, b_, d_;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of Eigen's product: the best of five, measured once for each shape.
double eigen_seconds(const GemmShape& shape) {
  static std::map<GemmShape, double> measured;
  auto [entry, fresh] = measured.try_emplace(shape, std::numeric_limits<double>::infinity());
  if (fresh) {
    EigenProduct product(shape);
    for (int i = 0; i < 5; ++i) {
      const double start = now();
      product.run();
      entry->second = std::min(entry->second, now() - start);
    }
  }
  return entry->second;
}

template <class Run>
void measure(benchmark::State& state, const GemmShape& shape, const Run& run) {
  const double yardstick = eigen_seconds(shape), start = now();
  for (auto _ : state) run();
  const double each = (now() - start) / static_cast<double>(state.iterations());
  state.counters["multiply_adds"] =
      benchmark::Counter(static_cast<double>(shape.m * shape.n * shape.k),
                         benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
  state.counters["times_eigen"] = each / yardstick;
}

void gemm_model(benchmark::State& state) {
  const GemmShape shape(state);
  const bench::Operands operands(shape.m, shape.n, shape.k);
  std::vector<std::byte> d(static_cast<std::size_t>(2 * shape.m * shape.n));
  const GemmOptions options{.threads = shape.threads};
  measure(state, shape, [&] {
    gemm(operands.problem(), DType::bf16, d, options);
    benchmark::DoNotOptimize(d.data());
  });
}

void gemm_eigen_f32(benchmark::State& state) {
  const GemmShape shape(state);
  EigenProduct product(shape);
  measure(state, shape, [&] { product.run(); });
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"m", "n", "k", "threads"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const int threads : {1, 2}) {
    benchmark->Args({128, 128, 512, threads});
    benchmark->Args({512, 512, 4096, threads});
    benchmark->Args({64, 2112, 1024, threads});
  }
}
BENCHMARK(gemm_eigen_f32)->Apply(shapes);
BENCHMARK(gemm_model)->Apply(shapes);

}  // namespace
