// The grouped part of fp8twin_gpu_bench (--grouped): each case beside its groups one by one, and cuBLASLt.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "emulator/support/error.hpp"
#include "gpu/bench/grouped.hpp"
#include "gpu/bench/session.hpp"
#include "gpu/jit/kernels.hpp"
#include "gpu/launch/choose.hpp"

namespace fp8twin::bench {
namespace {

/// What is worth trying for a grouped product: narrow tiles in batches where weights are all that counts, high ones elsewhere.
bool is_worth_trying(const GroupedCase& what, const GemmConfig& config) {
  if (config.output_f32 != what.output_f32() || config.cluster_m * config.cluster_n > 2) return false;
  if (what.by_bytes) {
    return config.in_flight > 1 && config.cluster_m * config.cluster_n == 1 && config.tile_m <= 128 &&
           (config.swapped() ? config.tile_n <= 32 : config.tile_m == 64 && config.tile_n % 16 == 0);
  }
  const u32 area = config.tile_m * config.tile_n, least = config.form.b_scale_per_row ? 128 * 96 : 128 * 128;
  return config.in_flight == 1 && area >= least && (config.tile_n % 16 == 0 || config.form.b_scale_per_row);
}

std::vector<GemmConfig> worth_trying(const GroupedCase& what) {
  std::vector<GemmConfig> some;
  for (const int step : {8, 9}) {
    for (GemmConfig config : accepted_configs(step)) {
      config.form = what.product.form;
      config.stages = usual_stages(config);
      if (is_accepted(config) && is_worth_trying(what, config)) some.push_back(config);
    }
  }
  return some;
}

struct Tried {
  GemmConfig config;
  double us;
};

/// The configurations that compile, in turn over the arrays of `some`, which is the same product in one of them.
GemmConfig fastest(Session& session, const GroupedCase& what, const CardGemm& some) {
  const std::vector<GemmConfig> configs = worth_trying(what);
  std::vector<jit::Source> sources;
  for (const GemmConfig& config : configs) sources.push_back(jit::gemm_source(config));
  const std::vector<std::string> refusals = session.kernels.try_prepare(sources, session.options.threads);
  std::vector<Tried> tried;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (!refusals[i].empty()) continue;
    const Kernel kernel = session.kernels.get(sources[i], configs[i].name());
    const LaunchPlan plan = resident(plan_gemm(what.product, configs[i], session.multiprocessors()), kernel);
    const GemmArguments& g = some.arguments().gemm;
    const TmaGemmArguments arguments =
        card_arguments(plan, {g.a, g.a_scale, g.b, g.b_scale, g.d, g.c, g.group_table});
    const Contender contender{"ours", [&] { launch_on_card(kernel, plan, arguments); }};
    const ContestResult result = session.contest().run(std::span(&contender, 1), 2).front();
    if (result.refusal.empty()) tried.push_back({configs[i], result.us.median});
  }
  std::sort(tried.begin(), tried.end(), [](const Tried& a, const Tried& b) { return a.us < b.us; });
  for (std::size_t i = 0; i < std::min<std::size_t>(12, tried.size()); ++i) {
    fmt::print("    {:<60} {:9.2f} us\n", tried[i].config.name(), tried[i].us);
  }
  std::fflush(stdout);
  return tried.front().config;
}

GroupedRow timed(Session& session, const GroupedCase& what) {
  const GroupedOperands operands(what, session.options.seed);
  GemmConfig config = choose_config(what.product, what.output_f32(), session.multiprocessors());
  if (session.options.try_all) {
    CardGemm some(plan_gemm(what.product, config, session.multiprocessors()), operands.view());
    some.launch(session.kernels);  // finds the groups
    config = fastest(session, what, some);
  }
  const LaunchPlan plan = plan_gemm(what.product, config, session.multiprocessors());
  CardGemm ours(plan, operands.view());
  std::vector<Contender> contenders = {{"ours", [&] { ours.launch(session.kernels); }}};
  std::optional<OneByOne> one_by_one;
  std::optional<CublasLtOneByOne> cublaslt;
  std::string why_not;
  if (plan.config.form.grouping != Grouping::none) {
    one_by_one.emplace(session.kernels, what, plan, ours, session.multiprocessors());
    contenders.push_back({"one by one", [&] { one_by_one->launch(); }});
  }
  if (!plan.along_k()) {
    try {
      cublaslt.emplace(session.cublaslt, what, operands, plan, ours);
      contenders.push_back({"cuBLASLt", [&] { cublaslt->launch(); }});
    } catch (const Error& error) {
      why_not = error.what();
    }
  }
  const std::vector<ContestResult> results = session.contest().run(contenders, session.options.rounds);
  GroupedRow row{what, plan.config.name(), {}, {}, {}, {}};
  for (const ContestResult& result : results) {
    if (!result.refusal.empty())
      throw Error(fmt::format("{}, {}: {}", what.name, result.name, result.refusal));
    if (result.name == "ours") row.ours = result.us;
    if (result.name == "one by one") row.one_by_one = result.us;
    if (result.name == "cuBLASLt") row.cublaslt = result.us;
  }
  if (one_by_one) {  // as often launched as ours: where D accumulates, sums of the same products in the same order
    const std::vector<u8> grouped = ours.d().download(), apart = one_by_one->d();
    i64 differing = 0;
    for (std::size_t i = 0; i < grouped.size(); i += plan.element_bytes()) {
      differing += !std::equal(grouped.begin() + static_cast<std::ptrdiff_t>(i),
                               grouped.begin() + static_cast<std::ptrdiff_t>(i + plan.element_bytes()),
                               apart.begin() + static_cast<std::ptrdiff_t>(i));
    }
    row.differing = differing;
  }
  fmt::print("{}: {:.2f} us ({}){}{}{}\n", what.name, row.ours.median, row.config,
             row.one_by_one ? fmt::format(", one by one {:.2f}", row.one_by_one->median) : "",
             row.cublaslt ? fmt::format(", cuBLASLt {:.2f}", row.cublaslt->median) : "",
             why_not.empty() ? "" : "; cuBLASLt: " + why_not);
  std::fflush(stdout);
  return row;
}

}  // namespace

std::string grouped_table(Session& session) {
  std::vector<GroupedRow> rows;
  for (const GroupedCase& what : grouped_cases()) {
    if (what.name.find(session.options.only) == std::string::npos) continue;
    rows.push_back(timed(session, what));
    session.failed = session.failed || rows.back().differing.value_or(0) != 0;
  }
  const Floors floors = session.floors();
  const Provenance p = session.provenance();
  std::string text = fmt::format("{}, driver {}, CUDA {}, {}; {}.\nDurations: {}. {}\n\n`{}`\n\n", p.device,
                                 p.driver, p.cuda, p.cublaslt, p.date, p.method, p.procedure, p.command);
  text += fmt::format(
      "Read-only stream: {:.2f} TB/s. Unscaled FP8 GEMM of 8192^3, fast accumulation: {:.0f} TFLOP/s.\n\n",
      floors.read_bytes_per_second * 1e-12, floors.operations_per_second * 1e-12);
  return text + grouped_markdown(rows, floors.operations_per_second, floors.read_bytes_per_second);
}

}  // namespace fp8twin::bench
