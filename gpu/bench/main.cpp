// fp8twin_gpu_bench: our kernels beside cuBLASLt on one card, in one run.
//
//   fp8twin_gpu_bench --check --table FILE        the contest on all 44 shapes, with bits, and the table
//   fp8twin_gpu_bench --grouped --table FILE      grouped products, beside their groups one by one
//   fp8twin_gpu_bench --latency                   compilation, cache, launches
//
// Google Benchmark's own options (--benchmark_filter=..., --benchmark_out=...) are passed on.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "emulator/files/atomic_file.hpp"
#include "emulator/support/error.hpp"
#include "gpu/bench/candidates.hpp"
#include "gpu/bench/session.hpp"

namespace fp8twin::bench {
namespace {

void write_text(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string read_text(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw Error(fmt::format("{} cannot be read", path));
  return text.str();
}

/// Which generated part of a page this run replaces.
std::string part_of_page(const BenchOptions& options) {
  return options.grouped ? "fp8twin_gpu_bench --grouped" : "fp8twin_gpu_bench";
}

/// What cannot be written is said before a card is asked for.
void check_outputs(const BenchOptions& options) {
  if (!options.table.empty()) const AtomicFile table(options.table);
  if (options.page.empty()) return;
  with_generated(read_text(options.page), part_of_page(options), "");
  const AtomicFile page(options.page);
}

int run(const BenchOptions& options, std::vector<std::string> passed_on) {
  std::vector<char*> arguments;
  std::string program = "fp8twin_gpu_bench";
  arguments.push_back(program.data());
  for (std::string& each : passed_on) arguments.push_back(each.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  if (std::isnan(options.flush_gb) || std::isnan(options.stream_gb)) {  // CLI11's Range lets it pass
    throw Error("--flush-gb and --stream-gb are numbers");
  }
  check_outputs(options);
  options.all();
  if (!options.config.empty()) config_from_name(options.config);
  Session session(options);
  const Provenance provenance = session.provenance();
  fmt::print("{}, driver {}, CUDA {}; {}\n{}\n{}\n", provenance.device, provenance.driver, provenance.cuda,
             provenance.cublaslt, provenance.method, provenance.procedure);
  const DeviceLimits& limits = session.device.limits();
  fmt::print(
      "{} multiprocessors up to {:.0f} MHz, {:.0f} MB of L2, {:.0f} GB of memory at {} bits and {:.0f} MHz\n",
      session.device.multiprocessors(), limits.sm_clock_khz * 1e-3, limits.l2_bytes / 1048576.0,
      static_cast<double>(limits.memory_bytes) * 1e-9, limits.memory_bus_bits,
      limits.memory_clock_khz * 1e-3);
  std::fflush(stdout);
  if (options.grouped) {
    const std::string table = grouped_table(session);
    fmt::print("\n{}", table);
    if (!options.table.empty()) write_text(options.table, table);
    if (!options.page.empty()) {
      write_text(options.page, with_generated(read_text(options.page), part_of_page(options), table));
    }
    return session.failed ? 1 : 0;
  }
  if (options.latency) {
    register_latency_benchmarks(session);
  } else {
    session.prepare(options.all());
    register_gemm_benchmarks(session);
  }
  benchmark::RunSpecifiedBenchmarks();
  if (session.rows.empty()) return session.failed ? 1 : 0;

  const std::string table = markdown(provenance, session.floors(), session.rows);
  fmt::print("\n{}", table);
  std::fflush(stdout);
  if (session.failed) {
    if (!options.table.empty() || !options.page.empty()) {
      fmt::print(stderr, "fp8twin_gpu_bench: a benchmark failed, so the table is not written to a file\n");
    }
    return 1;
  }
  if (!options.table.empty()) write_text(options.table, table);
  if (!options.page.empty()) {
    write_text(options.page, with_generated(read_text(options.page), part_of_page(options), table));
  }
  i64 differ = 0;
  for (const Row& row : session.rows) {
    if (row.differences) differ += row.differences->ours_model + row.differences->ours_cublaslt;
  }
  return differ ? 1 : 0;
}

}  // namespace
}  // namespace fp8twin::bench

int main(int argc, char** argv) {
  using namespace fp8twin::bench;
  BenchOptions options;
  options.command = "fp8twin_gpu_bench";
  for (int i = 1; i < argc; ++i) options.command += std::string(" ") + argv[i];
  std::string cached;
  CLI::App app{"Times the ladder's kernels beside cuBLASLt on an H100 or H200", "fp8twin_gpu_bench"};
  app.allow_extras();
  app.add_option("--shapes", options.shapes, "M,N,K;M,N,K; all 44 unless given");
  app.add_option("--config", options.config, "one configuration for every shape, by its name");
  app.add_option("--rounds", options.rounds, "rounds that count")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.footer("Google Benchmark's own options are passed on, such as --benchmark_filter=gemm/64.");
  app.add_option("--flush-gb", options.flush_gb, "gigabytes written before every run")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  app.add_option("--stream-gb", options.stream_gb, "gigabytes that the large read-only stream reads")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the operands")->capture_default_str();
  app.add_option("--threads", options.threads, "compilations at a time; 0: one for each hardware thread")
      ->check(CLI::Range(0, 1024));
  app.add_option("--table", options.table, "write the table, in Markdown, to this file");
  app.add_option("--page", options.page, "replace the generated part of this page by the table");
  app.add_option("--cupti", options.timer.cupti, "CUPTI's library");
  app.add_flag("--events", options.timer.events, "time with events, not with CUPTI");
  app.add_flag("--check", options.check, "compare the bits of ours, cuBLASLt and the model on every shape");
  app.add_flag("--grouped", options.grouped, "the grouped products instead, beside their groups one by one");
  app.add_flag("--try-all", options.try_all,
               "with --grouped: time every configuration worth trying, and take the best");
  app.add_option("--only", options.only, "with --grouped: products with this in their name");
  app.add_flag("--latency", options.latency, "time compilation, cache and launches instead");
  app.add_option("--time-cached-kernel", cached)->group("");
  try {
    app.parse(argc, argv);
    return cached.empty() ? run(options, app.remaining()) : time_cached_kernel(cached);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fp8twin_gpu_bench: {}\n", error.what());
  }
  return 2;
}
