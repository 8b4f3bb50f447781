// The contest as benchmarks: one iteration is a whole contest, its time the median of ours.
//
//   read_stream/...         bytes a second of the read-only kernel            floors
//   plain_fp8/8192          cuBLASLt's unscaled GEMM
//   gemm/64x7168x16384/...  ours, with counters:
//       TFLOPs, GBs         of ours                         cublaslt_us, ratio     cuBLASLt in the same rounds, its time over ours
//       of_published        ratio / published ratio         of_floor               floor / time
//       mean_us, min_us     of ours                         differ_*               elements, with --check
//       ascending_*         cuBLASLt without a split of K, where its first result splits
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "gpu/bench/session.hpp"

namespace fp8twin::bench {
namespace {

/// Runs `measure` once, which returns microseconds; an Error becomes the benchmark's.
template <class Measure>
void once(benchmark::State& state, Session& session, const Measure& measure) {
  for (auto _ : state) {
    try {
      state.SetIterationTime(1e-6 * measure());
    } catch (const std::exception& error) {
      session.failed = true;
      state.SkipWithError(error.what());
      return;
    }
  }
}

void set_counters(benchmark::State& state, Session& session, const Row& row) {
  const Floors floors = session.floors();
  const double us = row.ours.median;
  state.counters["TFLOPs"] = row.shape.operations() / us * 1e-6;
  state.counters["GBs"] = row.shape.bytes() / us * 1e-3;
  state.counters["mean_us"] = row.ours.mean;
  state.counters["min_us"] = row.ours.min;
  state.counters["cublaslt_us"] = row.cublaslt.median;
  state.counters["cublaslt_mean_us"] = row.cublaslt.mean;
  state.counters["ratio"] = ratio_of(row);
  if (row.ascending) {
    state.counters["ascending_us"] = row.ascending->median;
    state.counters["ascending_ratio"] = ascending_ratio_of(row);
  }
  if (const std::optional<double> share = of_published(row)) state.counters["of_published"] = *share;
  state.counters["of_floor"] = floors.us(row.shape) / us;
  if (row.differences) {
    state.counters["differ_ours_model"] = static_cast<double>(row.differences->ours_model);
    state.counters["differ_cublaslt_model"] = static_cast<double>(row.differences->cublaslt_model);
    state.counters["differ_ours_cublaslt"] = static_cast<double>(row.differences->ours_cublaslt);
  }
  std::string label = row.config;
  if (row.padded_m > row.shape.m) label += fmt::format("; cuBLASLt computes {} rows", row.padded_m);
  if (session.timer.uses_events())
    label += fmt::format("; events, an empty kernel {:.1f} us", session.timer.gap_us());
  state.SetLabel(label + "; " + session.cublaslt_kernels);
}

void stream_benchmark(benchmark::State& state, Session& session, bool large) {
  once(state, session, [&] {
    const StreamResult& stream = large ? session.large_stream() : session.cold_stream();
    state.counters["TBs"] = stream.bytes_per_second() * 1e-12;
    state.SetLabel(fmt::format("{} bytes, {} blocks", stream.bytes, stream.blocks));
    return stream.us.median;
  });
}

template <class Function>
void add(const std::string& name, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), function)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

void register_gemm_benchmarks(Session& session) {
  add("read_stream/large", [&](benchmark::State& state) { stream_benchmark(state, session, true); });
  add("read_stream/118MB", [&](benchmark::State& state) { stream_benchmark(state, session, false); });
  add("plain_fp8/8192", [&](benchmark::State& state) {
    once(state, session, [&] {
      const ContestResult& plain = session.plain_gemm();
      state.counters["TFLOPs"] = session.floors().operations_per_second * 1e-12;
      state.SetLabel(fmt::format("{}", fmt::join(plain.kernels, " + ")));
      return plain.us.median;
    });
  });
  for (const Shape& shape : session.options.all()) {
    add("gemm/" + shape.name(), [&session, shape](benchmark::State& state) {
      once(state, session, [&] {
        const Row& row = contest_of(session, shape);
        set_counters(state, session, row);
        return row.ours.median;
      });
    });
  }
}

}  // namespace fp8twin::bench
