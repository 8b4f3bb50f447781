// Quantisation and its way back. Bytes a second count what is read and what is written.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "emulator/number/quantize.hpp"
#include "emulator/support/random.hpp"

namespace {

using namespace fp8twin;

constexpr std::int64_t rows = 1024, columns = 4096;

std::vector<BF16> bf16_values() {
  const Random random(3, 0);
  std::vector<BF16> values(rows * columns);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = random.bits(i);
    values[i] = {static_cast<std::uint16_t>((bits & 0x807f) | (120 + (bits >> 61)) << 7)};  // 2^-7 to 2^0
  }
  return values;
}

void quantize_bf16(benchmark::State& state) {
  const BlockGrid grid(1, rows, columns, {state.range(0), 128});
  const std::vector<BF16> x = bf16_values();
  std::vector<std::uint8_t> codes(x.size());
  std::vector<float> scales(static_cast<std::size_t>(grid.scales()));
  const Recipe& recipe = recipe_from_name("deepgemm");
  for (auto _ : state) {
    quantize(recipe, ScaleFormat::f32, grid, std::span<const BF16>(x), codes, scales,
             static_cast<int>(state.range(1)));
    benchmark::DoNotOptimize(codes.data());
  }
  state.SetBytesProcessed(state.iterations() * (rows * columns * 3 + grid.scales() * 4));
}
BENCHMARK(quantize_bf16)->ArgNames({"block_rows", "threads"})->ArgsProduct({{1, 128}, {1, 2}})->UseRealTime();

void dequantize_f32(benchmark::State& state) {
  const BlockGrid grid(1, rows, columns, {state.range(0), 128});
  std::vector<std::uint8_t> codes(rows * columns);
  const std::vector<float> scales(static_cast<std::size_t>(grid.scales()), 0.25f);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i % 127);
  std::vector<float> x(codes.size());
  for (auto _ : state) {
    dequantize(grid, codes, scales, std::span<float>(x), static_cast<int>(state.range(1)));
    benchmark::DoNotOptimize(x.data());
  }
  state.SetBytesProcessed(state.iterations() * (rows * columns * 5 + grid.scales() * 4));
}
BENCHMARK(dequantize_f32)
    ->ArgNames({"block_rows", "threads"})
    ->ArgsProduct({{1, 128}, {1, 2}})
    ->UseRealTime();

}  // namespace
