#include "emulator/cli/verify_draw.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "emulator/cli/kernel_options.hpp"
#include "emulator/engine/launchable.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::uint64_t order_streams = std::uint64_t{1} << 63;  // problems have the streams below
constexpr std::uint64_t form_streams = std::uint64_t{1} << 62;

std::vector<GemmConfig> in_random_order(std::vector<GemmConfig> configs, Numbers numbers) {
  for (std::size_t i = configs.size(); i > 1; --i) std::swap(configs[i - 1], configs[numbers.below(i)]);
  return configs;
}

/// All that is offered of one step or of all, for problems of a form. With N = 1 1D1D reads as 1D2D, which takes what 1D1D
/// takes.
std::vector<GemmConfig> offered_for(const Form& form, bool f32, std::optional<int> step) {
  std::vector<GemmConfig> configs;
  const ProductForm product = product_form(form.kind, form.b_scale_rows, form.has_c);
  for (int each = step.value_or(first_step); each <= step.value_or(last_step); ++each) {
    for (const GemmConfig& config : offered_configs(each, product)) {
      if (config.output_f32 == f32) configs.push_back(config);
    }
  }
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

std::vector<Form> drawable_forms(const std::vector<Kind>& kinds, std::optional<int> step) {
  std::vector<Form> forms;
  const bool plain_only = step && *step < first_step_of_forms;
  for (const Form& form : all_forms()) {
    const bool asked = kinds.empty() || std::find(kinds.begin(), kinds.end(), form.kind) != kinds.end();
    if (asked && (form.plain() || !plain_only)) forms.push_back(form);
  }
  const std::vector<Kind> found = kinds_of(forms);
  for (const Kind kind : kinds) {
    if (std::find(found.begin(), found.end(), kind) != found.end()) continue;
    throw Error(
        fmt::format("--kind: found {}, which kernel {} does not take; needed is 1d2d, or kernel {} or {}",
                    kind_name(kind), step_name(*step), step_name(8), step_name(9)));
  }
  return forms;
}

Drawer::Drawer(std::uint64_t seed, std::vector<std::string> engines, std::optional<int> step,
               std::vector<Form> forms)
    : seed_(seed), engines_(std::move(engines)), forms_(std::move(forms)), kinds_(kinds_of(forms_)) {
  for (std::size_t engine = 0; engine < engines_.size(); ++engine) {
    std::vector<Order> orders;
    for (const Form& form : forms_) {
      for (const bool f32 : {false, true}) {
        const std::uint64_t stream = order_streams + 64 * engine + orders.size();
        orders.push_back({form, f32, in_random_order(offered_for(form, f32, step), Numbers(seed_, stream))});
      }
    }
    orders_.push_back(std::move(orders));
  }
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
  const Form wanted = form(index);
  const auto order = std::find_if(orders_[engine].begin(), orders_[engine].end(), [&](const Order& each) {
    return each.form == wanted && each.f32 == (index % 2 == 1);
  });
  return order->configs[static_cast<std::size_t>(index / 2) % order->configs.size()];
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
