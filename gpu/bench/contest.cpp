#include "gpu/bench/contest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/support/error.hpp"

namespace fp8twin::bench {

Contest::Contest(KernelTimer& timer, std::size_t flush_bytes)
    : timer_(timer), flush_(std::min(flush_bytes, memory::available() / 10 * 9)) {}

LaunchTime Contest::time_once(const std::function<void()>& launch) {
  return timer_.time([&] { memory::fill(reinterpret_cast<CUdeviceptr>(flush_.device()), 0, flush_.size()); },
                     launch);
}

std::vector<ContestResult> Contest::run(std::span<const Contender> contenders, int rounds) {
  std::vector<ContestResult> results(contenders.size());
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      ContestResult& result = results[i];
      result.name = contenders[i].name;
      if (!result.refusal.empty()) continue;
      try {
        const LaunchTime time = time_once(contenders[i].launch);
        if (round == 0) continue;
        if (round == 1) result.kernels = time.kernels;
        if (result.kernels != time.kernels) {
          throw Error(
              fmt::format("its launches are not alike: {} kernels were recorded in one round, {} in another",
                          result.kernels.size(), time.kernels.size()));
        }
        times[i].push_back(time.microseconds);
      } catch (const Error& error) {
        result.refusal = error.what();
      }
    }
  }
  for (std::size_t i = 0; i < contenders.size(); ++i) results[i].us = summary_of(std::move(times[i]));
  return results;
}

}  // namespace fp8twin::bench
