// Codecs and the readable dot product. Bytes a second count what is read and what is written.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "emulator/number/bf16.hpp"
#include "emulator/number/e4m3.hpp"
#include "emulator/number/e4m3_fast.hpp"
#include "emulator/number/tensor_core.hpp"
#include "emulator/support/random.hpp"

namespace {

using namespace fp8twin;

constexpr std::int64_t count = 1 << 16;

/// Finite floats around one, of either sign.
std::vector<float> floats() {
  const Random random(1, 0);
  std::vector<float> values(count);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = random.bits(i);
    const auto sign_and_fraction = static_cast<std::uint32_t>(bits) & 0x807fffffu;
    values[i] = f32_from_bits(sign_and_fraction | (117 + static_cast<std::uint32_t>(bits >> 60)) << 23);
  }
  return values;
}

std::vector<std::uint8_t> finite_codes() {
  const Random random(2, 0);
  std::vector<std::uint8_t> codes(count);
  for (std::uint64_t i = 0; i < codes.size(); ++i) {
    const std::uint32_t draw = random.below(i, 2 * 127);
    codes[i] = static_cast<std::uint8_t>(draw % 127 | (draw / 127) << 7);
  }
  return codes;
}

void encode_e4m3(benchmark::State& state) {
  const auto in = floats();
  std::vector<std::uint8_t> out(in.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = E4M3::satfinite(in[i]).code;
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * count * 5);
}
BENCHMARK(encode_e4m3);

/// The branch-free form that the quantiser uses.
void encode_e4m3_fast(benchmark::State& state) {
  const auto in = floats();
  std::vector<std::uint8_t> out(in.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = encode_e4m3(in[i], cast_satfinite);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * count * 5);
}
BENCHMARK(encode_e4m3_fast);

void decode_e4m3(benchmark::State& state) {
  const auto in = finite_codes();
  std::vector<float> out(in.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = E4M3{in[i]}.value();
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * count * 5);
}
BENCHMARK(decode_e4m3);

void encode_bf16(benchmark::State& state) {
  const auto in = floats();
  std::vector<std::uint16_t> out(in.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = BF16::rn(in[i]).code;
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * count * 6);
}
BENCHMARK(encode_bf16);

/// dot(), written to be read: the oracle of the fast path, not a fast path.
void dot_reference(benchmark::State& state) {
  const auto codes = finite_codes();
  constexpr std::size_t half = count / 2;
  for (auto _ : state) {
    float c = 0;
    for (std::size_t i = 0; i < half; i += 32) c = dot(sm90, &codes[i], &codes[half + i], c);
    benchmark::DoNotOptimize(c);
  }
  state.counters["multiply_adds"] =
      benchmark::Counter(half, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}
BENCHMARK(dot_reference);

}  // namespace
