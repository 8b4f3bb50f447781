// gemm: every step of the ladder, in several tiles and clusters, against the oracle GEMM, over the golden shapes and
// larger ones.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "emulator/support/error.hpp"
#include "gpu/capture/gemm_runner.hpp"
#include "gpu/capture/sources.hpp"
#include "gpu/launch/card_gemm.hpp"

namespace fp8twin::capture {

std::vector<GemmConfig> captured_configs(bool output_f32) {
  std::vector<GemmConfig> configs;
  for (const int width : gemm_widths) {
    configs.push_back({.step = 1, .tile_m = 64, .tile_n = static_cast<u32>(width), .stages = 1});
  }
  for (const int step : {2, 3, 4, 5}) {
    configs.push_back({.step = step, .tile_m = step < 4 ? 64u : 128u, .tile_n = 152});
  }
  for (const int step : {6, 7}) {
    configs.push_back({.step = step, .tile_m = 64, .tile_n = 112});
    configs.push_back({.step = step, .tile_m = 128, .tile_n = 128, .cluster_n = 2});
    configs.push_back({.step = step, .tile_m = 128, .tile_n = 192, .cluster_m = 2});
  }
  configs.push_back({.tile_n = 24});
  const auto either = [output_f32](u32 bf16, u32 f32) { return output_f32 ? f32 : bf16; };  // fits registers
  configs.push_back({.step = 8, .tile_m = 256, .tile_n = either(128, 64), .cluster_n = 2});
  configs.push_back({.step = 8, .tile_m = 192, .tile_n = either(128, 88)});
  configs.push_back({.step = 8, .tile_m = 128, .tile_n = either(176, 112), .cluster_m = 2});
  configs.push_back({.step = 8, .tile_m = 64, .tile_n = 16, .in_flight = 4});
  configs.push_back({.step = 8, .tile_m = 64, .tile_n = 64, .cluster_n = 4, .in_flight = 2});
  configs.push_back({.step = 9, .tile_m = 64, .tile_n = 16, .in_flight = 4});
  configs.push_back({.step = 9, .tile_m = 128, .tile_n = 32, .cluster_m = 2});
  for (GemmConfig& config : configs) {
    config.output_f32 = output_f32;
    config.stages = most_stages(config);
  }
  return configs;
}

void prepare_gemm_kernels(Session& session) {
  std::vector<jit::Source> sources = {check_gemm_source()};
  for (const bool f32 : {false, true}) {
    for (const GemmConfig& config : captured_configs(f32)) sources.push_back(jit::gemm_source(config));
  }
  session.kernels.prepare(sources, session.threads);
}

GemmVerdict run_gemm_case(Session& session, const GemmCase& gemm, const GemmData& data) {
  const Buffer<std::uint8_t> a(data.a), b(data.b);
  const Buffer<float> a_scale(data.a_scale), b_scale(data.b_scale);
  const std::vector<GemmConfig> configs = captured_configs(gemm.output_f32);
  const Kernel oracle = session.kernels.get(check_gemm_source(), "check_gemm");
  const Counters counters(configs.size(), 8);
  const u32 multiprocessors = static_cast<u32>(session.device().multiprocessors());
  GemmVerdict verdict;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const LaunchPlan plan = plan_gemm(gemm.m, gemm.n, gemm.k, configs[i], multiprocessors);
    CardGemm card(plan, {data.a, data.a_scale, data.b, data.b_scale});
    card.launch(session.kernels);
    const unsigned blocks =
        static_cast<unsigned>(std::min<std::int64_t>((gemm.m * gemm.n + 127) / 128, 65536));
    oracle.launch(
        {blocks, 1}, 128, 0,
        GemmCheckArguments{a.device(), a_scale.device(), b.device(), b_scale.device(), card.d().device(),
                           plan.m, plan.n, plan.k, static_cast<u32>(plan.d_stride), gemm.output_f32,
                           counters.compared.device() + i, counters.mismatch_count.device() + i,
                           counters.mismatches.device() + i * counters.capacity, counters.capacity});
    std::vector<std::uint8_t> stored = card.result().d;
    if (i == 0) {
      verdict.d = std::move(stored);
    } else if (stored != verdict.d) {
      throw Error(fmt::format("GEMM {}: {} and {} gave different bits", gemm.name(), configs[0].name(),
                              configs[i].name()));
    }
  }
  verdict.configs = configs.size();
  for (const Counters::Slot& slot : counters.read()) {
    verdict.outputs += slot.compared;
    verdict.mismatches += slot.mismatches;
    verdict.first.insert(verdict.first.end(), slot.first.begin(), slot.first.end());
  }
  return verdict;
}

int check_gemm(Session& session, bool small) {
  const Device& device = session.device();
  Json answer = provenance(session, device);
  fmt::print("{}, driver {}\n", device.name(), device.driver_version());
  prepare_gemm_kernels(session);

  std::vector<GemmCase> cases = golden_gemms();
  if (small) {
    std::erase_if(cases, [](const GemmCase& g) { return g.m * g.n * g.k > 2'000'000; });
  } else {
    const std::vector<GemmCase> large = large_gemms();
    cases.insert(cases.end(), large.begin(), large.end());
  }
  std::uint64_t outputs = 0, mismatches = 0;
  std::size_t configs = 0;
  answer["cases"] = Json::array();
  for (const GemmCase& gemm : cases) {
    const std::uint64_t seed = gemm.seed(session.seed);
    const GemmVerdict verdict = run_gemm_case(session, gemm, GemmData(gemm, seed));
    fmt::print("{:<40} {:>12} outputs {:>6} differ\n", gemm.name(), verdict.outputs, verdict.mismatches);
    for (const Mismatch& m : verdict.first) {
      fmt::print("  differs: row {} column {}: card {}, oracle {}\n", m.row, m.column, hex(m.card, 8),
                 hex(m.model, 8));
    }
    std::fflush(stdout);
    answer["cases"].push_back({{"name", gemm.name()},
                               {"seed", seed},
                               {"outputs", verdict.outputs},
                               {"mismatches", verdict.mismatches}});
    configs = verdict.configs;
    outputs += verdict.outputs;
    mismatches += verdict.mismatches;
  }
  fmt::print("total {} outputs over {} shapes and {} configurations: {} differ\n", outputs, cases.size(),
             configs, mismatches);
  answer["outputs"] = outputs;
  answer["mismatches"] = mismatches;
  if (!session.record_path.empty()) write_json(session.record_path, answer);
  return mismatches ? 1 : 0;
}

}  // namespace fp8twin::capture
