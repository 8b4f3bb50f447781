#include "gpu/bench/precompile.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"
#include "gpu/bench/candidates.hpp"
#include "gpu/jit/disk_cache.hpp"
#include "gpu/jit/kernels.hpp"

namespace fp8twin::bench {

int precompile(const std::vector<Shape>& shapes, const std::string& configs, int threads) {
  std::map<std::string, jit::Source> by_name;  // each once
  for (const Shape& shape : shapes) {
    for (const GemmConfig& config : selected_configs(configs, shape)) {
      by_name.try_emplace(config.name(), jit::gemm_source(config));
    }
  }
  const std::filesystem::path folder = jit::cache_folder();
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  if (folder.empty() || access(folder.c_str(), W_OK) != 0) {
    throw Error(fmt::format(
        "compiled kernels cannot be kept in '{}': FP8TWIN_CACHE_DIR must name a folder to write to",
        folder.string()));
  }
  fmt::print("{} kernels to compile, about a second each for each thread\n", by_name.size());
  std::fflush(stdout);
  std::vector<std::pair<std::string, std::string>> failures(by_name.size());
  const std::vector<std::pair<std::string, jit::Source>> sources(by_name.begin(), by_name.end());
  parallel_for(static_cast<std::int64_t>(sources.size()), threads, [&](std::int64_t i, int) {
    const auto& [name, source] = sources[static_cast<std::size_t>(i)];
    try {
      jit::compile_cached(source);
    } catch (const Error& error) {
      failures[static_cast<std::size_t>(i)] = {name, error.what()};
    }
  });
  std::erase_if(failures, [](const auto& failure) { return failure.first.empty(); });
  for (const auto& [name, why] : failures) fmt::print("{}: {}\n", name, why);
  fmt::print("{} kernels compiled, {} refused; they are in {}\n", sources.size() - failures.size(),
             failures.size(), jit::cache_folder());
  return failures.empty() ? 0 : 1;
}

}  // namespace fp8twin::bench
