#include "gpu/launch/kernel_cache.hpp"

#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"
#include "gpu/jit/disk_cache.hpp"

namespace fp8twin {

std::vector<std::string> KernelCache::try_prepare(std::span<const jit::Source> sources, int threads) {
  std::vector<std::string> refusals(sources.size());
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!modules_.contains(key(sources[i]))) missing.push_back(i);
  }
  std::vector<jit::Compiled> compiled(missing.size());
  parallel_for(static_cast<std::int64_t>(missing.size()), threads, [&](std::int64_t i, int) {
    const auto at = static_cast<std::size_t>(i);
    try {
      compiled[at] = jit::compile_cached(sources[missing[at]]);
    } catch (const Error& error) {
      refusals[missing[at]] = error.what();
    }
  });
  // Loading belongs to the thread that made the context current.
  for (std::size_t i = 0; i < missing.size(); ++i) {
    std::string& refusal = refusals[missing[i]];
    try {
      if (refusal.empty()) modules_.try_emplace(key(sources[missing[i]]), compiled[i].cubin);
    } catch (const Error& error) {
      refusal = error.what();
    }
  }
  return refusals;
}

void KernelCache::prepare(std::span<const jit::Source> sources, int threads) {
  for (const std::string& refusal : try_prepare(sources, threads)) {
    if (!refusal.empty()) throw Error(refusal);
  }
}

Kernel KernelCache::get(const jit::Source& source, const std::string& name) {
  auto loaded = modules_.find(key(source));
  if (loaded == modules_.end()) {
    prepare(std::span(&source, 1), 1);
    loaded = modules_.find(key(source));
  }
  std::map<std::string, Kernel>& kernels = loaded->second.kernels;
  const auto known = kernels.find(name);
  return known != kernels.end() ? known->second
                                : kernels.emplace(name, loaded->second.module.kernel(name)).first->second;
}

}  // namespace fp8twin
