// Quantisation and its way back, on every path that runs here. Bytes a second count what is read and what is written.
//
// The yardstick is memcpy over as many bytes, shared out to as many threads, timed alternately with it: counter `of_memcpy`
// is memcpy's median time over the loop's. The buffers of 96 MiB and more are memory's business; those of 1.5 MiB, the
// second-level cache's.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/bench/timing.hpp"
#include "emulator/number/quantize.hpp"
#include "emulator/support/parallel.hpp"
#include "emulator/support/random.hpp"

namespace {

using namespace fp8twin;
using bench::median, bench::seconds;

constexpr std::int64_t columns = 4096;

std::vector<BF16> bf16_values(std::int64_t rows) {
  const Random random(3, 0);
  std::vector<BF16> values(static_cast<std::size_t>(rows * columns));
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = random.bits(i);
    values[i] = {static_cast<std::uint16_t>((bits & 0x807f) | (120 + (bits >> 61)) << 7)};  // 2^-7 to 2^0
  }
  return values;
}

/// memcpy of half of `bytes` to another place: so many are read or written.
class Copy {
 public:
  Copy(std::int64_t bytes, int threads)
      : threads_(threads), from_(static_cast<std::size_t>(bytes / 2), 1), to_(from_.size()) {}

  void run() {
    parallel_for(threads_, threads_, [&](std::int64_t part, int) {
      const auto parts = static_cast<std::size_t>(threads_), i = static_cast<std::size_t>(part);
      const std::size_t begin = from_.size() * i / parts, end = from_.size() * (i + 1) / parts;
      std::memcpy(to_.data() + begin, from_.data() + begin, end - begin);
    });
    benchmark::DoNotOptimize(to_.data());
  }

 private:
  int threads_;
  std::vector<std::uint8_t> from_, to_;
};

template <class Run>
void measure(benchmark::State& state, std::int64_t bytes, int threads, const Run& run) {
  Copy copy(bytes, threads);
  std::vector<double> ours, copies;
  run();
  for (auto _ : state) {
    ours.push_back(seconds(run));
    state.SetIterationTime(ours.back());
    copies.push_back(seconds([&] { copy.run(); }));
  }
  state.SetBytesProcessed(state.iterations() * bytes);
  state.counters["of_memcpy"] = median(copies) / median(ours);
}

void quantize_bf16(benchmark::State& state, Simd simd, const char* recipe) {
  const std::int64_t rows = state.range(0);
  const auto threads = static_cast<int>(state.range(2));
  const BlockGrid grid(1, rows, columns, {state.range(1), 128});
  const std::vector<BF16> x = bf16_values(rows);
  std::vector<std::uint8_t> codes(x.size());
  std::vector<float> scales(static_cast<std::size_t>(grid.scales()));
  measure(state, rows * columns * 3 + grid.scales() * 4, threads, [&] {
    quantize(recipe_from_name(recipe), ScaleFormat::f32, grid, std::span<const BF16>(x), codes, scales,
             threads, simd);
    benchmark::DoNotOptimize(codes.data());
  });
}

template <class T>
void dequantize_to(benchmark::State& state, Simd simd) {
  const std::int64_t rows = state.range(0);
  const auto threads = static_cast<int>(state.range(2));
  const BlockGrid grid(1, rows, columns, {state.range(1), 128});
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i % 127);
  const std::vector<float> scales(static_cast<std::size_t>(grid.scales()), 0.25f);
  std::vector<T> x(codes.size());
  const auto bytes_each = static_cast<std::int64_t>(1 + sizeof(T));
  measure(state, rows * columns * bytes_each + grid.scales() * 4, threads, [&] {
    dequantize(grid, codes, scales, std::span<T>(x), threads, simd);
    benchmark::DoNotOptimize(x.data());
  });
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "block_rows", "threads"})
      ->ArgsProduct({{128, 8192}, {1, 128}, {1, 2}})
      ->UseManualTime();
}

[[maybe_unused]] const bool registered = [] {
  for (const Simd simd : simd_here()) {
    const std::string path(simd_name(simd));
    // deepgemm multiplies by the inverse of the scale, vllm divides by the scale.
    for (const char* recipe : {"deepgemm", "vllm"}) {
      const std::string name = std::string("quantize_bf16/").append(recipe).append("/").append(path);
      shapes(benchmark::RegisterBenchmark(
          name.c_str(), [=](benchmark::State& state) { quantize_bf16(state, simd, recipe); }));
    }
    shapes(benchmark::RegisterBenchmark(("dequantize_f32/" + path).c_str(),
                                        [=](benchmark::State& state) { dequantize_to<float>(state, simd); }));
    shapes(benchmark::RegisterBenchmark(("dequantize_bf16/" + path).c_str(),
                                        [=](benchmark::State& state) { dequantize_to<BF16>(state, simd); }));
  }
  return true;
}();

}  // namespace
