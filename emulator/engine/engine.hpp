// Three ways to the same bits, behind one interface.
//
//   model     the arithmetic alone, as fast as a CPU does it         emulator/model
//   machine   the kernel's source on the emulated SM90               gpu/kernels, emulator/machine
//   gpu       the kernel's source on the card                        gpu/kernels, NVRTC, the driver
//
//   Problem, output type, RunOptions  ->  Engine::run  ->  d, and the trace's words if config.trace asks for them
//
// Machine and gpu run wgmma problems with the kernel wgmma_chain and all others with the ladder's kernels, of which steps 1
// to 7 take 1d2d problems without c, and steps 8 and 9 every kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/machine/launch.hpp"
#include "emulator/model/gemm.hpp"
#include "gpu/launch/configs.hpp"

namespace fp8twin {

/// Streaming multiprocessors of an H200, which the persistent kernels fill: what the machine takes for its own.
inline constexpr std::uint32_t h200_multiprocessors = 132;

/// How to run; each engine reads its part.
struct RunOptions {
  int threads = 0;  // 0: one for each hardware thread
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};

  // model
  bool promote = true;
  TensorCore core = sm90;
  Simd simd = best_simd();

  // machine and gpu
  GemmConfig config = {};
  std::uint32_t multiprocessors = 0;  // that the persistent kernels fill; 0: all that the engine has
  std::uint32_t trace_tile_m = 0, trace_tile_n = 0;  // of D, along M and along N
  std::uint32_t trace_group = 0;

  // machine
  machine::Schedule schedule = machine::Schedule::random;
  std::uint64_t schedule_seed = 1;
  bool checks = true;
};

struct RunResult {
  std::vector<std::byte> d;  // of problem.d_shape(), rows not padded
  std::vector<std::uint32_t>
      trace;  // gpu/kernels/trace_layout.hpp says what is where; empty without config.trace
  std::vector<machine::BankNote> bank_notes;  // machine: how its shared-memory accesses met the banks
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string_view name() const = 0;
  virtual std::string device() const { return "cpu"; }
  virtual std::string driver() const { return "none"; }
  virtual std::uint32_t multiprocessors() const { return h200_multiprocessors; }
  /// Is there a kernel, with a configuration and a trace?
  virtual bool runs_kernels() const { return true; }

  /// Makes ready what many runs will need, several at a time: the card's engine compiles its kernels.
  virtual void prepare(std::span<const GemmConfig> configs, int threads);

  /// Throws Error for a problem that this engine does not take, machine::Fault for a kernel's mistake.
  RunResult run(const Problem& problem, DType output, const RunOptions& options);

 protected:
  virtual RunResult compute(const Problem& problem, DType output, const RunOptions& options) = 0;
};

/// "model", "machine" or "gpu". Throws Error for another name, and where there is no driver or no card.
std::unique_ptr<Engine> make_engine(std::string_view name);
/// Throws Error unless `name` is an engine's.
void need_engine_name(std::string_view option, std::string_view name);

/// The PTX of a kernel. Throws Error where the program was built without CUDA's headers, or NVRTC is missing.
std::string dump_ptx(const GemmConfig& config);

std::string_view schedule_name(machine::Schedule schedule);
/// Throws Error that lists the names.
machine::Schedule schedule_from_name(std::string_view name);

}  // namespace fp8twin
