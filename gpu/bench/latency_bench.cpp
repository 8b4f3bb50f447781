// What the host waits for: compilation, the cache, launches. No CUPTI, since its records make every launch dearer.
//
//   jit_compile                 source to handle, no disk cache: the first use of a kernel
//   cached_kernel               look-up in the disk cache to handle, NVRTC already in this process
//   cached_kernel_new_process   the same as the first thing that a new process does after opening the card
//   host_launch                 one launch call, of many without a wait between them
//   chain                       one kernel of many back to back, by events: overlap:1 with programmatic dependent launch
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "emulator/support/error.hpp"
#include "gpu/bench/candidates.hpp"
#include "gpu/bench/device_sources.hpp"
#include "gpu/bench/session.hpp"
#include "gpu/jit/disk_cache.hpp"
#include "gpu/jit/kernels.hpp"

namespace fp8twin::bench {
namespace {

constexpr Shape large{4096, 7168, 16384}, small{64, 7168, 2048};
constexpr int launches = 200;  // fewer than the driver queues, so that no call waits for the card

template <class Run>
double seconds(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Each iteration's time is what `measure` returns, in seconds.
template <class Measure>
void repeat(benchmark::State& state, const Measure& measure) {
  for (auto _ : state) {
    try {
      state.SetIterationTime(measure());
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
      return;
    }
  }
}

template <class Function>
void add(const std::string& name, int iterations, benchmark::TimeUnit unit, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), function)->UseManualTime()->Iterations(iterations)->Unit(unit);
}

/// What the program prints when it is run with --time-cached-kernel.
double in_new_process(const std::string& config) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format("'{}' --time-cached-kernel {}", program, config);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 64> line{};
  double took = 0;
  if (!pipe || !std::fgets(line.data(), static_cast<int>(line.size()), pipe.get()) ||
      std::sscanf(line.data(), "%lf", &took) != 1) {
    throw Error("a new process of this program said nothing: " + command);
  }
  return took;
}

void register_compilation(Session& session) {
  for (const Shape& shape : {small, large}) {
    const GemmConfig config = session.config_of(shape);
    const jit::Source source = jit::gemm_source(config);
    add("jit_compile/" + config.name(), 3, benchmark::kSecond, [=](benchmark::State& state) {
      repeat(state, [&] {
        return seconds([&] {
          const Module module(jit::compile(source).cubin);
          benchmark::DoNotOptimize(module.kernel(config.name()));
        });
      });
    });
    add("cached_kernel/" + config.name(), 20, benchmark::kMillisecond, [=](benchmark::State& state) {
      jit::compile_cached(source);
      repeat(state, [&] {
        KernelCache fresh;
        return seconds([&] { benchmark::DoNotOptimize(fresh.get(source, config.name())); });
      });
    });
    add("cached_kernel_new_process/" + config.name(), 5, benchmark::kMillisecond,
        [=](benchmark::State& state) {
          jit::compile_cached(source);
          repeat(state, [&] { return in_new_process(config.name()); });
        });
  }
}

/// `count` launches, then a wait that is not timed: seconds for each call.
template <class Launch>
double host_seconds(const Device& device, const Launch& launch) {
  device.synchronize();
  const double took = seconds([&] {
    for (int i = 0; i < launches; ++i) launch();
  });
  device.synchronize();
  return took / launches;
}

/// The card's time from the first launch to the last one's end, for each launch.
template <class Launch>
double chain_seconds(const Device& device, const Launch& launch) {
  const Buffer<u8> busy(std::size_t{4} << 30);  // a fill of a millisecond, behind which the launches queue
  const Event start, end;
  memory::fill(reinterpret_cast<CUdeviceptr>(busy.device()), 0, busy.size());
  start.record();
  for (int i = 0; i < launches; ++i) launch();
  end.record();
  device.synchronize();
  return 1e-6 * end.microseconds_since(start) / launches;
}

void register_launches(Session& session) {
  add("host_launch/empty", 10, benchmark::kMicrosecond, [&](benchmark::State& state) {
    const Kernel empty = session.kernels.get(empty_source(), "bench_empty");
    repeat(state, [&] {
      return host_seconds(session.device, [&] { empty.launch({1, 1}, 32, 0, EmptyArguments{}); });
    });
  });
  add("host_launch/" + small.name(), 10, benchmark::kMicrosecond, [&](benchmark::State& state) {
    const CardProblem problem(session.problems.problem(small));
    const OurGemm gemm(session.kernels, problem, session.config_of(small), session.multiprocessors());
    repeat(state, [&] { return host_seconds(session.device, [&] { gemm.launch(); }); });
  });
  for (const bool overlap : {false, true}) {
    const std::string suffix = fmt::format("/overlap:{}", overlap ? 1 : 0);
    add("chain/empty" + suffix, 5, benchmark::kMicrosecond, [&session, overlap](benchmark::State& state) {
      const Kernel empty = session.kernels.get(empty_source(), "bench_empty");
      const Grid grid{132, 1, 1, overlap};
      repeat(state, [&] {
        return chain_seconds(session.device, [&] { empty.launch(grid, 32, 0, EmptyArguments{}); });
      });
    });
    add("chain/" + small.name() + suffix, 5, benchmark::kMicrosecond,
        [&session, overlap](benchmark::State& state) {
          const CardProblem problem(session.problems.problem(small));
          const OurGemm gemm(session.kernels, problem, session.config_of(small), session.multiprocessors());
          repeat(state, [&] { return chain_seconds(session.device, [&] { gemm.launch(overlap); }); });
        });
  }
}

}  // namespace

void register_latency_benchmarks(Session& session) {
  register_compilation(session);
  register_launches(session);
}

int time_cached_kernel(const std::string& name) {
  const GemmConfig config = config_from_name(name);
  const Device device;
  const double took = seconds([&] {
    static KernelCache kernels;  // unloading is not timed
    benchmark::DoNotOptimize(kernels.get(jit::gemm_source(config), config.name()));
  });
  fmt::print("{:.6f}\n", took);
  std::fflush(stdout);
  std::_Exit(0);  // the modules go with the process
}

}  // namespace fp8twin::bench
