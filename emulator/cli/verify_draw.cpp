#include "emulator/cli/verify_draw.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "emulator/cli/kernel_options.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::uint64_t order_streams = std::uint64_t{1} << 63;  // problems have the streams below
constexpr std::uint64_t form_streams = std::uint64_t{1} << 62;

std::vector<GemmConfig> in_random_order(std::vector<GemmConfig> configs, Numbers numbers) {
  for (std::size_t i = configs.size(); i > 1; --i) std::swap(configs[i - 1], configs[numbers.below(i)]);
  return configs;
}

void draw_schedule(Numbers& numbers, RunOptions& run) {
  run.schedule = static_cast<machine::Schedule>(numbers.below(4));
  run.schedule_seed = numbers.below(std::uint64_t{1} << 32);
  constexpr std::uint32_t some[] = {2, 3, 5, 8, h200_multiprocessors};
  run.multiprocessors =
      std::max(some[numbers.below(std::size(some))], run.config.cluster_m * run.config.cluster_n);
  const std::uint32_t most = most_stages(run.config);
  if (most > 1) run.config.stages = 2 + numbers.below(most - 1);
}

std::vector<Kind> kinds_of(const std::vector<Form>& forms) {
  std::vector<Kind> kinds;
  for (const Form& form : forms) {
    if (std::find(kinds.begin(), kinds.end(), form.kind) == kinds.end()) kinds.push_back(form.kind);
  }
  return kinds;
}

}  // namespace

std::vector<Form> drawable_forms(const std::vector<Kind>& kinds,
                                 const std::function<bool(const Form&)>& takes, std::optional<int> step) {
  std::vector<Form> forms;
  const bool plain_only = step && *step < first_step_of_forms;
  for (const Form& form : all_forms()) {
    const bool asked = kinds.empty() || std::find(kinds.begin(), kinds.end(), form.kind) != kinds.end();
    if (asked && takes(form) && (form.plain() || !plain_only)) forms.push_back(form);
  }
  const std::vector<Kind> found = kinds_of(forms);
  for (const Kind kind : kinds) {
    if (std::find(found.begin(), found.end(), kind) != found.end()) continue;
    throw Error(fmt::format("--kind: found {}, which {} not take; needed is 1d2d, or engine model twice",
                            kind_name(kind),
                            plain_only ? fmt::format("kernel {} does", step_name(*step)) : "the engines do"));
  }
  return forms;
}

Drawer::Drawer(std::uint64_t seed, std::vector<std::string> engines, std::optional<int> step,
               std::vector<Form> forms)
    : seed_(seed), engines_(std::move(engines)), forms_(std::move(forms)), kinds_(kinds_of(forms_)) {
  const std::vector<GemmConfig> all = step ? offered_configs(*step) : offered_configs();
  for (std::size_t engine = 0; engine < engines_.size(); ++engine) {
    bf16_.push_back(order_of(all, false, order_streams + 2 * engine));
    f32_.push_back(order_of(all, true, order_streams + 2 * engine + 1));
  }
}

Drawer::Order Drawer::order_of(const std::vector<GemmConfig>& configs, bool f32, std::uint64_t stream) const {
  Order order;
  for (const GemmConfig& config : configs) {
    if (config.output_f32 == f32) order.plain.push_back(config);
  }
  order.plain = in_random_order(std::move(order.plain), Numbers(seed_, stream));
  for (const GemmConfig& config : order.plain) {
    if (config.step >= first_step_of_forms) order.any_form.push_back(config);
  }
  return order;
}

Form Drawer::form(std::int64_t index) const {
  Numbers numbers(seed_, form_streams + static_cast<std::uint64_t>(index));
  const Kind kind = kinds_[numbers.below(kinds_.size())];
  std::vector<Form> of_kind;
  std::copy_if(forms_.begin(), forms_.end(), std::back_inserter(of_kind),
               [&](const Form& form) { return form.kind == kind; });
  return of_kind[numbers.below(of_kind.size())];
}

GemmConfig Drawer::config(std::int64_t index, std::size_t engine) const {
  const Order& order = index % 2 ? f32_[engine] : bf16_[engine];
  const std::vector<GemmConfig>& configs =
      form(index).plain() || order.any_form.empty() ? order.plain : order.any_form;
  return configs[static_cast<std::size_t>(index / 2) % configs.size()];
}

Draw Drawer::draw(std::int64_t index, std::int64_t most_macs) const {
  Numbers numbers(seed_, static_cast<std::uint64_t>(index));
  Draw draw;
  draw.problem = draw_problem(numbers, form(index), most_macs);
  draw.output = index % 2 ? DType::f32 : DType::bf16;
  const bool models = std::count(engines_.begin(), engines_.end(), "model") > 1;
  const std::vector<Simd> paths = simd_here();
  for (std::size_t engine = 0; engine < engines_.size(); ++engine) {
    RunOptions run;
    run.config = config(index, engine);
    if (engines_[engine] == "machine") draw_schedule(numbers, run);
    if (engines_[engine] == "model" && models) run.simd = paths[numbers.below(paths.size())];
    draw.runs.push_back(run);
  }
  return draw;
}

std::vector<std::string> labels_of(const std::vector<std::string>& engines) {
  std::vector<std::string> labels;
  for (auto engine = engines.begin(); engine != engines.end(); ++engine) {
    const auto before = std::count(engines.begin(), engine, *engine);
    labels.push_back(before ? fmt::format("{}-{}", *engine, before + 1) : *engine);
  }
  return labels;
}

std::vector<std::string> reproducer(const Draw& draw, const std::vector<std::string>& engines,
                                    std::size_t other) {
  const std::vector<std::string> labels = labels_of(engines);
  std::vector<std::string> lines{draw.problem.command()};
  for (std::size_t i = 0; i < engines.size(); ++i) {
    if (i != 0 && i != other) continue;
    const RunOptions& run = draw.runs[i];
    std::string line = fmt::format("fp8twin gemm p.safetensors -o {}.safetensors --engine {} --output {}",
                                   labels[i], engines[i], draw.output == DType::f32 ? "f32" : "bf16");
    if (engines[i] == "model") {
      if (run.core.fraction_bits != sm90.fraction_bits)
        line += fmt::format(" --fraction-bits {}", run.core.fraction_bits);
      if (std::count(engines.begin(), engines.end(), "model") > 1)
        line += fmt::format(" --simd {}", simd_name(run.simd));
    } else {
      line += " " + config_options(run.config);
    }
    if (engines[i] == "machine") {
      line += fmt::format(" --multiprocessors {} --schedule {} --schedule-seed {}", run.multiprocessors,
                          schedule_name(run.schedule), run.schedule_seed);
    }
    lines.push_back(line);
  }
  lines.push_back(fmt::format("fp8twin diff {}.safetensors {}.safetensors", labels[0], labels[other]));
  return lines;
}

}  // namespace fp8twin::cli
