#include "gpu/bench/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpu/launch/choose.hpp"

namespace fp8twin::bench {
namespace {

struct Candidate {
  GemmConfig config;
  Estimate estimate;
};

std::vector<Candidate> ranked(const Shape& shape, u32 multiprocessors) {
  std::vector<Candidate> all;
  for (const int step : {8, 9}) {
    for (const GemmConfig& config : candidate_configs(step, false)) {
      const Estimate e = estimate(shape.m, shape.n, shape.k, config, multiprocessors);
      if (e.resident > 0) all.push_back({config, e});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.estimate.total < b.estimate.total;
  });
  return all;
}

}  // namespace

std::string estimates(const Shape& shape, u32 multiprocessors, int most_rows) {
  std::vector<Candidate> rows = ranked(shape, multiprocessors);
  if (most_rows > 0 && rows.size() > static_cast<std::size_t>(most_rows)) {
    rows.resize(static_cast<std::size_t>(most_rows));
  }
  std::string text = fmt::format(
      "\n{} on {} multiprocessors, estimated in microseconds; not measured\n{:<42} {:>9} {:>6} {:>7} {:>7} "
      "{:>7} {:>8} "
      "{:>7} {:>6} {:>6}\n",
      shape.name(), multiprocessors, "candidate", "time", "waves", "memory", "caches", "copies", "products",
      "stores", "start", "waits");
  for (const auto& [config, e] : rows) {
    text +=
        fmt::format("{:<42} {:>9.2f} {:>6} {:>7.2f} {:>7.2f} {:>7.2f} {:>8.2f} {:>7.2f} {:>6.2f} {:>6.2f}\n",
                    config.name(), e.total, e.waves, e.memory, e.caches, e.copies, e.products, e.stores,
                    e.start + e.last_store, e.waits);
  }
  const GemmConfig chosen = choose_config(shape.m, shape.n, shape.k, false, multiprocessors);
  return text + fmt::format("chosen: {}: {}\n", chosen.name(),
                            why(estimate(shape.m, shape.n, shape.k, chosen, multiprocessors)));
}

}  // namespace fp8twin::bench
