#include "gpu/launch/kernel_cache.hpp"

#include <vector>

#include "emulator/support/parallel.hpp"
#include "gpu/jit/disk_cache.hpp"

namespace fp8twin {

void KernelCache::prepare(std::span<const jit::Source> sources, int threads) {
  std::vector<const jit::Source*> missing;
  for (const jit::Source& source : sources) {
    if (!modules_.contains(key(source))) missing.push_back(&source);
  }
  std::vector<jit::Compiled> compiled(missing.size());
  parallel_for(static_cast<std::int64_t>(missing.size()), threads, [&](std::int64_t i, int) {
    compiled[static_cast<std::size_t>(i)] = jit::compile_cached(*missing[static_cast<std::size_t>(i)]);
  });
  // Loading belongs to the thread that made the context current.
  for (std::size_t i = 0; i < missing.size(); ++i) modules_.try_emplace(key(*missing[i]), compiled[i].cubin);
}

Kernel KernelCache::get(const jit::Source& source, const std::string& name) {
  prepare(std::span(&source, 1), 1);
  return modules_.at(key(source)).kernel(name);
}

}  // namespace fp8twin
