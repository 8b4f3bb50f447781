// What one run of fp8twin_gpu_bench shares: options, the card, cuBLASLt, the contest, and what has been measured so far.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/bench/card_problem.hpp"
#include "gpu/bench/contest.hpp"
#include "gpu/bench/report.hpp"
#include "gpu/bench/stream.hpp"

namespace fp8twin::bench {

struct BenchOptions {
  std::string shapes, config, table, page, command;
  int rounds = 30, threads = 0;
  double flush_gb = 8, stream_gb = 4;
  bool check = false;    // bits, too
  bool grouped = false;  // the grouped products, in place of the 44 shapes
  bool try_all = false;  // of them: every configuration worth trying
  std::string only;      // of them: those with this in their name
  bool latency = false;  // the host's times, without CUPTI, in place of the kernels'
  u64 seed = 1;
  KernelTimerOptions timer;

  /// Of `shapes`, or all 44.
  std::vector<Shape> all() const { return shapes.empty() ? all_shapes() : parse_shapes(shapes); }
};

class Session {
 public:
  explicit Session(const BenchOptions& options);

  GemmConfig config_of(const Shape& shape) const;
  u32 multiprocessors() const { return static_cast<u32>(device.multiprocessors()); }
  /// Compiles the kernels of all shapes, in parallel.
  void prepare(const std::vector<Shape>& shapes);

  /// Measured when first asked for.
  const StreamResult& large_stream();
  const StreamResult& cold_stream();
  const ContestResult& plain_gemm();
  Floors floors();

  Provenance provenance() const;

  BenchOptions options;
  KernelTimer timer;  // before the device
  Device device;
  KernelCache kernels;
  CublasLt cublaslt;
  Problems problems;
  std::vector<Row> rows;
  bool failed = false;           // a benchmark ended with an Error, or grouped and apart gave other bits
  std::string cublaslt_kernels;  // of the shape timed last

  /// The buffer and the clock for kernels' durations.
  Contest& contest();

 private:
  std::optional<Contest> contest_;
  std::optional<StreamResult> large_, cold_;
  std::optional<ContestResult> plain_;
};

/// Bytes of the cold stream: the weights of 7168 x 16384.
inline constexpr std::size_t cold_stream_bytes = std::size_t{7168} * 16384;
/// The extent of the unscaled GEMM.
inline constexpr i64 plain_extent = 8192;

/// Ours against cuBLASLt on one shape; the bits, too, if asked for. Adds a row to the session.
const Row& contest_of(Session& session, const Shape& shape);

void register_gemm_benchmarks(Session& session);     // floors and shapes
void register_latency_benchmarks(Session& session);  // compilation, cache, launches
/// The contest on the grouped products; a table in Markdown.
std::string grouped_table(Session& session);
/// What the program does when it is started by itself with --time-cached-kernel: prints the seconds from cache look-up to handle.
int time_cached_kernel(const std::string& config);

}  // namespace fp8twin::bench
