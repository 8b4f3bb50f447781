// diff: compares the tensors of two files, bits first, and with --problem asks which arithmetic gives the
// other bits. Of two traces it names the first step that differs.
#include <fmt/core.h>

#include <memory>
#include <optional>

#include "emulator/cli/command.hpp"
#include "emulator/cli/diff_json.hpp"
#include "emulator/cli/diff_pairs.hpp"
#include "emulator/cli/diff_trace.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/files/atomic_file.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/report/page.hpp"
#include "emulator/report/requantize.hpp"
#include "emulator/report/trace.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

struct DiffOptions {
  std::string a, b;
  std::vector<std::string> tensors;
  std::string problem, html;
  std::optional<std::uint64_t> max_ulp;
  bool nan_equal = false;
  std::int64_t sample = 10'000;
  std::string tile = "64x128";
};

TileShape read_tile(const std::string& text) {
  const std::size_t x = text.find('x');
  if (x != std::string::npos) {
    const TileShape tile{parse_integer("--tile, rows", text.substr(0, x), 64, any_size),
                         parse_integer("--tile, columns", text.substr(x + 1), 8, 256)};
    if (tile.rows % 64 == 0 && tile.columns % 8 == 0) return tile;
  }
  throw Error(fmt::format(
      "--tile is {}; needed is ROWSxCOLUMNS, rows a multiple of 64, columns a multiple of 8 up to 256",
      quote(text)));
}

/// Owners are those of a d: a result called so, or anything compared under --problem.
bool is_result(const TensorPair& pair, bool under_problem) {
  const bool float_type = pair.a.dtype == DType::bf16 || pair.a.dtype == DType::f32;
  const auto known = [](const std::string& name) { return name == "d" || name == "data"; };
  return float_type && pair.a.shape.size() >= 2 &&
         (under_problem || (known(pair.a.name) && known(pair.b.name)));
}

void write_page(const DiffOptions& options, const std::string& text) {
  const std::string page = html_page("fp8twin diff " + options.a + " " + options.b, text);
  AtomicFile file(options.html);
  file.write(std::as_bytes(std::span(page)));
  file.commit();
}

/// The problem whose d is compared; one that is not quantised yet is, by the first recipe, to know its rows.
Problem problem_of(const TensorFile& file, const TensorPair& pair, int threads) {
  const std::string& path = file.path;
  Problem problem = read_problem(holds_unquantised_operands(file)
                                     ? quantised_file(file, all_recipes().front(), ScaleFormat::f32, threads)
                                     : file);
  if (pair.a.shape != problem.d_shape()) {
    throw Error(fmt::format("{}: its d has shape {}; compared is {} of shape {}", path,
                            shape_text(problem.d_shape()), quote(pair.name), shape_text(pair.a.shape)));
  }
  if (pair.a.dtype != DType::bf16 && pair.a.dtype != DType::f32) {
    throw Error(fmt::format("{}: its d is BF16 or F32; compared is {} of dtype {}", path, quote(pair.name),
                            dtype_name(pair.a.dtype)));
  }
  return problem;
}

Answer compare_pair(const TensorPair& pair, const DiffOptions& options, TileShape tile, int threads) {
  const CompareOptions how{
      .nan_equal = options.nan_equal, .threads = threads, .first_count = 5, .ranges = {}};
  return {{pair.name, pair.a, pair.b, is_result(pair, false) ? std::optional(tile) : std::nullopt, 0},
          compare(pair.a, pair.b, how),
          {}};
}

/// The same over the elements that the problem defines; then the question which arithmetic gives b.
Answer compare_under_problem(const TensorPair& pair, const DiffOptions& options, TileShape tile,
                             int threads) {
  const TensorFile file = read_tensor_file(options.problem);
  const Problem problem = problem_of(file, pair, threads);
  const Elements elements(problem);
  const CompareOptions how{
      .nan_equal = options.nan_equal, .threads = threads, .first_count = 5, .ranges = elements.ranges()};
  const Comparison comparison = compare(pair.a, pair.b, how);
  std::optional<Progress> progress;
  DiffCause cause = holds_unquantised_operands(file)
                        ? find_recipe(file, elements, pair.a, pair.b, comparison, how, options.sample)
                        : find_cause(problem, elements, pair.a, pair.b, comparison, how, options.sample,
                                     [&](std::int64_t done, std::int64_t total) {
                                       if (!progress) progress.emplace("variants", total);
                                       progress->update(done);
                                     });
  return {{pair.name, pair.a, pair.b, is_result(pair, true) ? std::optional(tile) : std::nullopt,
           pair.a.elements() - elements.count()},
          comparison,
          std::move(cause)};
}

void run_diff(Context& context, const DiffOptions& options) {
  if (!options.html.empty()) need_writable(options.html, {options.a, options.b, options.problem});
  const TensorFile a = read_tensor_file(options.a), b = read_tensor_file(options.b);
  const TileShape tile = read_tile(options.tile);
  const bool under_problem = !options.problem.empty();
  const bool traces = is_trace(a) && is_trace(b) && options.tensors.empty() && !under_problem;
  if (traces) first_trace_difference(a, b);  // of one launch, or an Error, before tensors are paired
  const std::vector<TensorPair> pairs = pair_tensors(a, b, options.tensors, under_problem);
  if (under_problem && pairs.size() != 1) {
    throw Error(
        fmt::format("{} and {}: {} pairs of tensors to compare; with --problem, --tensor has to name one",
                    options.a, options.b, pairs.size()));
  }
  std::vector<Answer> answers;
  bool accepted = true;
  for (const TensorPair& pair : pairs) {
    answers.push_back(under_problem ? compare_under_problem(pair, options, tile, context.threads)
                                    : compare_pair(pair, options, tile, context.threads));
    const Answer& answer = answers.back();
    const bool within = options.max_ulp && answer.comparison.within(*options.max_ulp);
    accepted = accepted && (answer.comparison.equal() || within);
    context.text += diff_text(answer.subject, answer.comparison, answer.cause ? &*answer.cause : nullptr);
  }
  if (options.max_ulp) {
    context.text +=
        fmt::format("{} within {} ULP\n", accepted ? "everything is" : "not everything is", *options.max_ulp);
  }
  context.answer = diff_json(answers);
  if (traces) add_trace_difference(context, a, b);
  context.status = accepted ? 0 : 1;
  if (!options.html.empty()) write_page(options, context.text);
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = add_command(
      app, context, "diff",
      "Compares two files' tensors, bits first; of two traces, names the first step where they part.",
      "fp8twin diff ours.safetensors theirs.safetensors --tensor d=out --problem problem.safetensors");
  command->add_option("A", options->a, "a .safetensors or .npy file")->required();
  command->add_option("B", options->b, "the file to compare it with")->required();
  command
      ->add_option(
          "--tensor", options->tensors,
          "compare NAME, or NAME of A with OTHER of B: NAME[=OTHER]; may be repeated (default: every tensor)")
      ->allow_extra_args(false);
  command->add_option("--problem", options->problem,
                      "the problem that A and B solve: leaves out padding and masked rows, and computes "
                      "differing elements again "
                      "under named variants of the arithmetic to find the one that gives B's bits");
  command
      ->add_option_function<std::string>(
          "--max-ulp",
          [options](const std::string& text) { options->max_ulp = parse_unsigned("--max-ulp", text); },
          "accept (status 0) differences up to N representable steps; -0 is +0")
      ->type_name("INT");
  command->add_flag("--nan-equal", options->nan_equal, "take any two NaNs as equal");
  add_integer(command, "--sample", options->sample,
              "with --problem: elements to compute again, of those that differ and of all (0: every one)")
      ->default_str(std::to_string(options->sample));
  command->add_option("--tile", options->tile, "tile shape assumed when an element's owner is named")
      ->capture_default_str();
  command->add_option("--html", options->html, "also write the report to FILE as a web page");
  command->callback([&context, options] { run_diff(context, *options); });
}

}  // namespace fp8twin::cli
