// traces: what the probes of the ladder's kernels saw on the card, one file for each launch. tests/golden/traces_test.cpp runs the same
// kernels on the emulated machine and compares every tile, accumulator and promoted sum.
//
// Operands come from a seed and a distribution, which the file names; it holds none of them.
#include <fmt/format.h>

#include <filesystem>

#include "emulator/engine/trace_file.hpp"
#include "emulator/model/distribution.hpp"
#include "gpu/capture/capture.hpp"
#include "gpu/launch/card_gemm.hpp"

namespace fp8twin::capture {
namespace {

struct TraceCase {
  std::int64_t m, n, k;
  GemmConfig config;
  u32 tile_m, tile_n;  // the traced tile of D, along M and along N
};

/// Steps 1 to 7 on one shape with tails; then a K of one block, a wide tile, and the last tile of a matrix. Of step 8 the
/// stream, with two slabs for each warpgroup; of step 9 the batches, with a stage that K does not fill.
std::vector<TraceCase> cases() {
  std::vector<TraceCase> list;
  for (int step = first_step; step <= 7; ++step) {
    GemmConfig config{.step = step, .tile_m = 64, .tile_n = 16};
    config.stages = step < 3 ? 1 : 3;
    if (step >= 6) config.cluster_m = 2;
    list.push_back({100, 136, 200, config, 1, 5});
  }
  list.push_back(
      {64, 64, 128, {.step = 7, .tile_m = 64, .tile_n = 32, .stages = 4, .output_f32 = true}, 0, 1});
  list.push_back({129, 200, 48, {.step = 7, .tile_m = 128, .tile_n = 48, .stages = 4, .cluster_n = 2}, 0, 3});
  list.push_back({333, 576, 400, {.step = 4, .tile_m = 64, .tile_n = 16, .stages = 2}, 5, 35});
  list.push_back({300, 136, 100, {.step = 8, .tile_m = 256, .tile_n = 8, .stages = 3}, 0, 16});
  list.push_back({100, 136, 200, {.step = 9, .tile_m = 64, .tile_n = 8, .stages = 3, .in_flight = 4}, 5, 1});
  return list;
}

}  // namespace

int traces(Session& session, const std::string& folder) {
  const Device& device = session.device();
  session.command = "fp8twin-capture traces --out " + std::filesystem::path(folder).filename().string();
  std::filesystem::create_directories(folder);
  for (TraceCase each : cases()) {
    each.config.trace = true;
    const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    const std::int64_t k_blocks = (each.k + 127) / 128, n_blocks = (each.n + 127) / 128;
    std::vector<std::uint8_t> a(size(each.m * each.k)), b(size(each.n * each.k));
    std::vector<float> a_scale(size(each.m * k_blocks)), b_scale(size(n_blocks * k_blocks));
    const Distribution distribution = Distribution::uniform;
    const std::uint64_t seed = session.seed;
    fill_codes(distribution, seed, Operand::a, each.k, a);
    fill_codes(distribution, seed, Operand::b, each.k, b);
    fill_scales(distribution, seed, Operand::a_scale, a_scale);
    fill_scales(distribution, seed, Operand::b_scale, b_scale);

    const LaunchPlan plan =
        plan_gemm(each.m, each.n, each.k, each.config, static_cast<u32>(device.multiprocessors()));
    const GemmResult result = run_on_card(session.kernels, plan, GemmOperands{a, a_scale, b, b_scale},
                                          {.trace = {.tile_m = each.tile_m, .tile_n = each.tile_n}});
    Metadata metadata = metadata_of(provenance(session, device));
    metadata["distribution"] = std::string(distribution_name(distribution));
    const std::string path =
        fmt::format("{}/m{}_n{}_k{}_{}.safetensors", folder, each.m, each.n, each.k, each.config.name());
    write_trace_file(path, {each.m, each.n, each.k, each.config, each.tile_m, each.tile_n}, result.trace,
                     metadata);
    fmt::print("{}\n", path);
  }
  return 0;
}

}  // namespace fp8twin::capture
