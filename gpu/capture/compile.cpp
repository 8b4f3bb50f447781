// compile: every kernel through NVRTC, with the resources ptxas reports. A machine without a GPU can run it.
#include <fmt/format.h>

#include "emulator/support/parallel.hpp"
#include "gpu/capture/all_kernels.hpp"
#include "gpu/capture/capture.hpp"
#include "gpu/jit/nvrtc.hpp"

namespace fp8twin::capture {

namespace {

/// The ladder's kernels with `part` in their name, each on its own; all kernels, many to a unit, without one.
std::vector<jit::Source> sources_with(const std::string& part) {
  if (part.empty()) return all_kernels();
  std::vector<jit::Source> some;
  for (const GemmConfig& config : offered_configs()) {
    if (config.name().find(part) != std::string::npos) some.push_back(jit::gemm_source(config));
  }
  return some;
}

}  // namespace

int compile_all(Session& session, const std::string& part) {
  fmt::print("NVRTC {}\n{:<48} registers  stack  spills\n", jit::nvrtc_version(), "kernel");
  const std::vector<jit::Source> sources = sources_with(part);
  std::vector<jit::Compiled> compiled(sources.size());
  parallel_for(static_cast<std::int64_t>(sources.size()), session.threads, [&](std::int64_t i, int) {
    compiled[static_cast<std::size_t>(i)] = jit::compile(sources[static_cast<std::size_t>(i)]);
  });
  int spilled = 0;
  for (const jit::Compiled& one : compiled) {
    for (const jit::Resources& r : one.resources) {
      fmt::print("{:<48} {:>9} {:>6} {:>7}\n", r.kernel, r.registers, r.stack_bytes,
                 r.spill_store_bytes + r.spill_load_bytes);
      if (r.stack_bytes || r.spill_store_bytes || r.spill_load_bytes) ++spilled;
    }
  }
  fmt::print("{} kernels, {} with a stack frame or spills\n", compiled.size(), spilled);
  return spilled ? 1 : 0;
}

}  // namespace fp8twin::capture
