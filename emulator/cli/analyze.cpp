// analyze: where the error of a GEMM comes from, stage by stage, against the exact result.
#include <fmt/core.h>

#include <memory>
#include <optional>

#include "emulator/cli/command.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/report/analysis.hpp"
#include "emulator/report/compare.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

struct AnalyzeOptions {
  std::string problem, against, promote = "128", output, rows;
  std::int64_t fraction_bits = sm90.fraction_bits;
};

std::int64_t read_rows(const std::string& text, std::int64_t all) {
  if (text.empty()) return 0;
  if (text == "all") return all;
  return parse_integer("--rows, unless 'all'", text, 1, any_size);
}

std::string stage_table(const Analysis& analysis) {
  std::string text =
      fmt::format("{:<28} {:>12} {:>12} {:>12} {:>12}\n", "stage", "max abs", "max rel", "rms", "calc_diff");
  for (const Stage& stage : analysis.stages) {
    if (stage.name == "model f32") text += "for comparison\n";
    text += fmt::format("  {:<26} {:>12.4g} {:>12.4g} {:>12.4g} {:>12.4g}\n", stage.name, stage.max_abs,
                        stage.max_rel, stage.rms, stage.calc_diff);
  }
  return text;
}

/// The examples side by side, a column each.
std::string example_table(const Analysis& analysis, const Problem& problem, const AnalyzeOptions& options) {
  const Shape shape = problem.d_shape();
  const bool scaled = problem.kind != Kind::wgmma;
  std::string text = fmt::format("{:<28}", "element of d");
  const auto row = [&](const std::string& name, const auto& value_of) {
    text += fmt::format("\n  {:<26}", name);
    for (const AnalysedElement& element : analysis.examples)
      text += fmt::format(" {:>22}", value_of(element));
  };
  for (const AnalysedElement& element : analysis.examples)
    text += fmt::format(" {:>22}", shape_text(coordinates(shape, element.index)));
  if (!options.against.empty()) {
    row("exact, unquantised", [](const AnalysedElement& e) { return fmt::format("{}", *e.unquantised); });
  }
  row("exact", [](const AnalysedElement& e) { return fmt::format("{}", e.exact); });
  row(!scaled                     ? "tensor core"
      : options.promote == "none" ? "FP32 result"
                                  : "with promotion",
      [](const AnalysedElement& e) { return fmt::format("{}", e.promoted); });
  if (scaled) {
    row("without promotion", [](const AnalysedElement& e) {
      return e.not_promoted ? fmt::format("{}", *e.not_promoted) : std::string("scales vary");
    });
  }
  row("d, " + options.output, [](const AnalysedElement& e) { return fmt::format("{}", e.d); });
  return text + "\n";
}

std::string report_text(const Problem& problem, const Analysis& analysis, const AnalyzeOptions& options) {
  std::string text = fmt::format("{}: kind {}, M {}, N {}, K {}, groups {}\n", problem.file.path,
                                 kind_name(problem.kind), problem.m, problem.n, problem.k, problem.groups);
  const std::string promotion = problem.kind == Kind::wgmma ? "one chain, no scales and no promotion"
                                : options.promote == "none" ? "promotion none"
                                                            : "promotion every 128 of K";
  text += fmt::format("tensor core with {} fraction bits, {}, output {}\n", options.fraction_bits, promotion,
                      options.output);
  if (analysis.rows < analysis.all_rows) {
    text += fmt::format("{} of {} rows analysed, evenly spaced; --rows all takes every one\n", analysis.rows,
                        analysis.all_rows);
  }
  text += fmt::format("{} elements analysed", analysis.elements);
  if (analysis.not_finite > 0)
    text += fmt::format(", {} more left out: a NaN or infinity on their way", analysis.not_finite);
  text += "\n\n";
  if (!analysis.examples.empty()) {
    text += example_table(analysis, problem, options) + "\n";
  }
  return text + stage_table(analysis);
}

Json report_json(const Problem& problem, const Analysis& analysis, const AnalyzeOptions& options) {
  const Shape shape = problem.d_shape();
  Json stages = Json::array(), examples = Json::array();
  for (const Stage& stage : analysis.stages) {
    stages.push_back(
        {{"name", stage.name},
         {"max_abs", number(stage.max_abs)},
         {"max_rel", number(stage.max_rel)},
         {"rms", number(stage.rms)},
         {"calc_diff", number(stage.calc_diff)},
         {"max_abs_index",
          stage.max_abs_index < 0 ? Json(nullptr) : Json(coordinates(shape, stage.max_abs_index))}});
  }
  for (const AnalysedElement& e : analysis.examples) {
    Json json{
        {"index", coordinates(shape, e.index)}, {"exact", number(e.exact)}, {"promoted", number(e.promoted)}};
    if (e.unquantised) json["unquantised"] = number(*e.unquantised);
    json["not_promoted"] = e.not_promoted ? number(*e.not_promoted) : Json(nullptr);
    json["d"] = number(e.d);
    examples.push_back(json);
  }
  return {{"kind", kind_name(problem.kind)},
          {"m", problem.m},
          {"n", problem.n},
          {"k", problem.k},
          {"groups", problem.groups},
          {"fraction_bits", options.fraction_bits},
          {"promote", problem.kind == Kind::wgmma ? Json(nullptr) : Json(options.promote)},
          {"output", options.output},
          {"rows", analysis.rows},
          {"all_rows", analysis.all_rows},
          {"elements", analysis.elements},
          {"not_finite", analysis.not_finite},
          {"stages", stages},
          {"examples", examples}};
}

void run_analyze(Context& context, AnalyzeOptions options) {
  const Problem problem = read_problem(read_tensor_file(options.problem));
  if (options.output.empty()) options.output = problem.default_output() == DType::f32 ? "f32" : "bf16";
  AnalysisOptions how;
  how.core = with_fraction_bits(static_cast<int>(options.fraction_bits));
  how.promote = options.promote != "none";
  how.output = options.output == "f32" ? DType::f32 : DType::bf16;
  how.threads = context.threads;
  how.rows = read_rows(options.rows, std::max<std::int64_t>(1, element_count(problem.d_shape())));
  std::optional<TensorFile> against;
  if (!options.against.empty()) {
    against = read_tensor_file(options.against);
    how.against_a = &against->at("a");
    how.against_b = &against->at("b");
  }
  std::optional<Progress> progress;
  how.progress = [&](std::int64_t done, std::int64_t total) {
    if (!progress) progress.emplace("analyze", total);
    progress->update(done);
  };
  const Analysis analysis = analyze(problem, how);
  context.text = report_text(problem, analysis, options);
  context.answer = report_json(problem, analysis, options);
}

}  // namespace

void add_analyze(CLI::App& app, Context& context) {
  auto options = std::make_shared<AnalyzeOptions>();
  CLI::App* command =
      add_command(app, context, "analyze",
                  "Shows where a GEMM's error comes from, stage by stage, against the exact result.",
                  "fp8twin analyze problem.safetensors --against unquantised.safetensors");
  command->add_option("PROBLEM", options->problem, "a problem file")->required();
  command->add_option(
      "--against", options->against,
      "the file with the unquantised a and b (BF16, F16 or F32), to see what quantisation lost");
  add_integer(command, "--fraction-bits", options->fraction_bits,
              "fraction bits the tensor core keeps (25: a wider, Blackwell-like sum, as "
              "reported for later chips; not measured here)",
              min_fraction_bits, max_fraction_bits)
      ->default_str(std::to_string(options->fraction_bits));
  command
      ->add_option("--promote", options->promote,
                   "promotion to FP32 every 128 of K, or none: one chain, then one scaling")
      ->check(CLI::IsMember({"128", "none"}))
      ->capture_default_str();
  command->add_option("--output", options->output, "format of d (default: the problem's own)")
      ->check(CLI::IsMember({"bf16", "f32"}));
  command->add_option("--rows", options->rows,
                      "rows of d to analyse, or 'all' (default: as many as take seconds, evenly spaced)");
  command->callback([&context, options] { run_analyze(context, *options); });
}

}  // namespace fp8twin::cli
