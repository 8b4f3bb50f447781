// Runs the kernels that an H200 traced again, on the emulated machine: every byte of every tile as it landed, every accumulator after
// every k32 step, every promoted sum, the output.
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/engine/trace_file.hpp"
#include "gpu/launch/machine_gemm.hpp"
#include "tests/catch.hpp"
#include "tests/folder.hpp"
#include "tests/golden/golden.hpp"
#include "tests/gpu/random_gemm.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

/// "64x16"
std::pair<u32, u32> extents(const std::string& text) {
  const std::size_t x = text.find_first_of("x,");
  return {static_cast<u32>(std::stoul(text)), static_cast<u32>(std::stoul(text.substr(x + 1)))};
}

GemmConfig config_of(const Metadata& metadata) {
  GemmConfig config;
  config.step = step_from_name(metadata.at("kernel"));
  std::tie(config.tile_m, config.tile_n) = extents(metadata.at("tile"));
  std::tie(config.cluster_m, config.cluster_n) = extents(metadata.at("cluster"));
  config.stages = static_cast<u32>(std::stoul(metadata.at("stages")));
  config.output_f32 = metadata.at("output") == "f32";
  if (config.step >= 8) config.in_flight = static_cast<u32>(std::stoul(metadata.at("in_flight")));
  config.trace = true;
  return config;
}

}  // namespace

TEST_CASE("traces of the card and of the machine: equal at every probe point") {
  const std::vector<std::string> files = golden_files("traces");
  REQUIRE(files.size() >= 10);
  std::set<std::string> steps;
  for (const std::string& path : files) {
    INFO(path);
    const TensorFile card = read_tensor_file(path);
    const Metadata& metadata = card.metadata;
    const GemmConfig config = config_of(metadata);
    steps.insert(metadata.at("kernel"));
    const i64 m = std::stol(metadata.at("m")), n = std::stol(metadata.at("n")),
              k = std::stol(metadata.at("k"));
    const RandomGemm problem(m, n, k, distribution_from_name(metadata.at("distribution")),
                             std::stoull(metadata.at("seed")));
    const auto [tile_m, tile_n] = extents(metadata.at("trace_tile"));

    MachineGemmOptions options;
    options.trace.tile_m = tile_m;
    options.trace.tile_n = tile_n;
    const MachineGemmResult result =
        run_on_machine(plan_gemm(m, n, k, config, 132), problem.operands(), options);
    const Folder folder;
    const std::string ours_path = folder / "trace.safetensors";
    write_trace_file(ours_path, {m, n, k, config, tile_m, tile_n}, result.trace, {});
    const TensorFile ours = read_tensor_file(ours_path);
    for (const char* name : {"a_tile", "b_tile", "accumulator", "promoted", "output"}) {
      INFO(name);
      REQUIRE(ours.at(name).shape == card.at(name).shape);
      CHECK(differing(ours.at(name).bytes, card.at(name).bytes, dtype_size(card.at(name).dtype)) == 0);
    }
  }
  for (int step = first_step; step <= last_step; ++step) {
    const std::string name(step_name(step));
    INFO(name);
    CHECK(steps.count(name) == 1);
  }
}
