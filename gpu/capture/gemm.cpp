// gemm: the one-tile kernel at several widths against the oracle GEMM, over the golden shapes and larger
// ones.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "emulator/support/error.hpp"
#include "gpu/capture/gemm_runner.hpp"
#include "gpu/capture/sources.hpp"
#include "gpu/launch/gemm.hpp"

namespace fp8twin::capture {

namespace {

GemmConfig one_tile(int tile_n, bool output_f32) {
  return {.step = 1, .tile_m = 64, .tile_n = static_cast<u32>(tile_n), .stages = 1, .output_f32 = output_f32};
}

}  // namespace

void prepare_gemm_kernels(Session& session) {
  std::vector<jit::Source> sources = {check_gemm_source()};
  for (const int width : gemm_widths) {
    for (const bool f32 : {false, true}) sources.push_back(jit::gemm_source(one_tile(width, f32)));
  }
  session.kernels.prepare(sources, session.threads);
}

GemmVerdict run_gemm_case(Session& session, const GemmCase& gemm, const GemmData& data) {
  const DeviceGemm problem(gemm.m, gemm.n, gemm.k, data.a, data.a_scale, data.b, data.b_scale);
  const std::size_t size = static_cast<std::size_t>(gemm.m * gemm.n) * (gemm.output_f32 ? 4 : 2);
  const Kernel oracle = session.kernels.get(check_gemm_source(), "check_gemm");
  const Counters counters(std::size(gemm_widths), 8);
  GemmVerdict verdict;
  for (std::size_t i = 0; i < std::size(gemm_widths); ++i) {
    Buffer<std::uint8_t> d(size);
    d.fill(0xff);
    launch_gemm_1_one_tile(session.kernels, problem, one_tile(gemm_widths[i], gemm.output_f32), d);
    const unsigned blocks =
        static_cast<unsigned>(std::min<std::int64_t>((gemm.m * gemm.n + 127) / 128, 65536));
    oracle.launch(
        {blocks, 1}, 128, 0,
        GemmCheckArguments{problem.a.device(), problem.a_scale.device(), problem.b.device(),
                           problem.b_scale.device(), d.device(), static_cast<u32>(gemm.m),
                           static_cast<u32>(gemm.n), static_cast<u32>(gemm.k), gemm.output_f32,
                           counters.compared.device() + i, counters.mismatch_count.device() + i,
                           counters.mismatches.device() + i * counters.capacity, counters.capacity});
    std::vector<std::uint8_t> stored = d.download();
    if (i == 0) {
      verdict.d = std::move(stored);
    } else if (stored != verdict.d) {
      throw Error(fmt::format("GEMM {}: tiles of {} and {} columns gave different bits", gemm.name(),
                              gemm_widths[0], gemm_widths[i]));
    }
  }
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
    outputs += verdict.outputs;
    mismatches += verdict.mismatches;
  }
  fmt::print("total {} outputs over {} shapes and {} tile widths: {} differ\n", outputs, cases.size(),
             std::size(gemm_widths), mismatches);
  answer["outputs"] = outputs;
  answer["mismatches"] = mismatches;
  if (!session.record_path.empty()) write_json(session.record_path, answer);
  return mismatches ? 1 : 0;
}

}  // namespace fp8twin::capture
