// Launches a kernel on the emulated SM90, as cuLaunchKernelEx does on the card: clusters one after another on each of several OS
// threads, every block from beginning to end.
//
//   machine::GlobalMemory memory;
//   memory.add("a", a.data(), a.size(), machine::GlobalMemory::Access::read); ...
//   machine::LaunchReport report = machine::launch({tiles_m, tiles_n}, {1, 1}, 128, shared_bytes,
//                                                  [&](const Arguments& g) { my_kernel(config, g); }, arguments, {.memory = &memory});
//
// Throws Fault for what the checkers find: always the same one for the same seed and one OS thread.
#pragma once

#include <functional>

#include "emulator/machine/cluster.hpp"

namespace fp8twin::machine {

struct LaunchOptions {
  Schedule schedule = Schedule::random;
  u64 seed = 1;
  bool checks = true;
  int threads = 0;  // OS threads; 0: one for each hardware thread
  GlobalMemory* memory = nullptr;
  std::function<void(i64 done, i64 total)> progress = {};  // of clusters; called by one thread at a time
};

struct LaunchReport {
  std::vector<BankNote> bank_notes;  // summed over blocks, by line
};

LaunchReport launch_threads(Dim grid, Dim cluster, u32 threads, u32 shared_bytes,
                            const std::function<void()>& kernel, const LaunchOptions& options);

template <class Kernel, class Arguments>
LaunchReport launch(Dim grid, Dim cluster, u32 threads, u32 shared_bytes, const Kernel& kernel,
                    const Arguments& arguments, const LaunchOptions& options = {}) {
  return launch_threads(
      grid, cluster, threads, shared_bytes, [&] { kernel(arguments); }, options);
}

}  // namespace fp8twin::machine
