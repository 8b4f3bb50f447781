#include "gpu/bench/stream.hpp"

#include <fmt/format.h>

#include "emulator/support/error.hpp"
#include "gpu/bench/device_sources.hpp"

namespace fp8twin::bench {

StreamResult read_stream(Contest& contest, KernelCache& kernels, const Device& device, std::size_t bytes,
                         int rounds) {
  const Kernel kernel = kernels.get(stream_source(), "bench_stream_read");
  Buffer<u8> words(bytes);
  words.fill(0x5a);
  Buffer<u32> sum(1);
  sum.fill(0);
  const StreamArguments arguments{words.device(), bytes / 16, sum.device()};
  std::vector<Contender> contenders;
  std::vector<unsigned> blocks;
  for (const unsigned each : {1u, 2u, 3u}) {
    const unsigned grid = each * static_cast<unsigned>(device.multiprocessors());
    blocks.push_back(grid);
    contenders.push_back({fmt::format("{} blocks", grid), [kernel, arguments, grid] {
                            kernel.launch({grid, 1}, stream_threads, 0, arguments);
                          }});
  }
  StreamResult best;
  const std::vector<ContestResult> results = contest.run(contenders, rounds);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].refusal.empty()) throw Error("reading memory: " + results[i].refusal);
    if (best.blocks == 0 || results[i].us.median < best.us.median) best = {bytes, blocks[i], results[i].us};
  }
  return best;
}

}  // namespace fp8twin::bench
