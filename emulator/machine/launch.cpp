#include "emulator/machine/launch.hpp"

#include <fmt/format.h>

#include <mutex>

#include "emulator/support/parallel.hpp"

namespace fp8twin::machine {
namespace {

void need(bool holds, const std::string& sentence) {
  if (!holds) throw Error(sentence);
}

void merge(LaunchReport& into, const std::vector<BankNote>& notes) {
  for (const BankNote& note : notes) {
    auto same = std::find_if(into.bank_notes.begin(), into.bank_notes.end(),
                             [&](const BankNote& n) { return n.site == note.site; });
    if (same == into.bank_notes.end()) {
      into.bank_notes.push_back(note);
    } else {
      same->accesses += note.accesses;
      same->extra_wavefronts += note.extra_wavefronts;
    }
  }
}

}  // namespace

LaunchReport launch_threads(Dim grid, Dim cluster, u32 threads, u32 shared_bytes,
                            const std::function<void()>& kernel, const LaunchOptions& options) {
  need(threads >= 1 && threads <= 1024,
       fmt::format("launch: {} threads a block; 1 to 1024 are needed", threads));
  need(shared_bytes <= SharedMemory::max_bytes,
       fmt::format("launch: {} bytes of shared memory; a block has {}", shared_bytes,
                   SharedMemory::max_bytes));
  need(cluster.x * cluster.y >= 1 && cluster.x * cluster.y <= 16,
       fmt::format("launch: a cluster of {}x{} blocks; 1 to 16 are needed", cluster.x, cluster.y));
  need(grid.x % cluster.x == 0 && grid.y % cluster.y == 0,
       fmt::format("launch: a grid of {}x{} blocks is no multiple of a cluster of {}x{}", grid.x, grid.y,
                   cluster.x, cluster.y));
  ClusterSettings settings{options.schedule, options.seed, options.checks, options.memory, grid,
                           cluster,          threads,      shared_bytes};
  const i64 wide = grid.x / cluster.x, total = wide * (grid.y / cluster.y);
  LaunchReport report;
  std::mutex mutex;
  i64 done = 0;
  parallel_for(total, options.threads, [&](std::int64_t i, int) {
    Cluster instance(settings, static_cast<u32>(i % wide) * cluster.x,
                     static_cast<u32>(i / wide) * cluster.y);
    instance.run(kernel);
    const std::lock_guard lock(mutex);
    for (const auto& block : instance.blocks()) merge(report, block->banks.notes());
    ++done;
    if (options.progress) options.progress(done, total);
  });
  return report;
}

}  // namespace fp8twin::machine
