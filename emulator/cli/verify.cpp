// `verify`: random problems through several engines until one differs, and then the commands that show it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "emulator/cli/command.hpp"
#include "emulator/cli/random_problem.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/cli/verify_draw.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/report/compare.hpp"
#include "emulator/report/diff_text.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::int64_t no_limit = std::int64_t{1} << 62;
constexpr std::int64_t batch = 64;  // problems whose kernels are compiled together

struct VerifyOptions {
  std::string engines, kernel;
  std::vector<std::string> kinds;
  std::int64_t count = 100;
  double minutes = INFINITY;
  std::int64_t model_macs = no_limit, machine_macs = 20'000'000'000, gpu_macs = 200'000'000'000;
  std::int64_t fraction_bits = sm90.fraction_bits;
};

double parse_positive(const char* option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end || !(value > 0) || !std::isfinite(value)) {
    throw Error(
        fmt::format("{}: found '{}'; a number above zero, such as 5 or 2e10, is needed", option, text));
  }
  return value;
}

/// "a,b" as a and b; a word that is empty stays.
std::vector<std::string> parse_list(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    words.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return words;
}

std::vector<std::string> parse_engines(const std::string& text) {
  std::vector<std::string> names = parse_list(text);
  for (const std::string& name : names) need_engine_name("--engines", name);
  if (names.size() < 2) {
    throw Error(
        fmt::format("--engines: found '{}' alone; two or more, as in model,machine, are needed", text));
  }
  if (std::count(names.begin(), names.end(), "gpu") > 1)
    throw Error("--engines: found gpu twice; one is needed, since there is nothing to vary");
  return names;
}

std::vector<Kind> parse_kinds(const std::vector<std::string>& options) {
  std::vector<Kind> kinds;
  for (const std::string& option : options) {
    for (const std::string& name : parse_list(option)) {
      const std::optional<Kind> kind = kind_from_name(name);
      if (!kind || *kind == Kind::wgmma) {
        throw Error(
            fmt::format("--kind: found '{}'; 1d2d, 1d1d, batched, contiguous, masked or k-grouped is "
                        "needed",
                        name));
      }
      kinds.push_back(*kind);
    }
  }
  return kinds;
}

/// An engine, and what it may still spend.
struct Participant {
  std::unique_ptr<Engine> engine;
  std::int64_t budget, spent = 0;
};

struct FirstDifference {
  Draw draw;
  ProblemExtents extents;
  Shape shape;        // of d
  std::size_t other;  // the engine that parts from the first
  Comparison comparison;
};

class Verification {
 public:
  Verification(const Context& context, const VerifyOptions& options)
      : context_(context),
        options_(options),
        names_(parse_engines(options.engines)),
        labels_(labels_of(names_)) {
    const std::vector<Kind> kinds = parse_kinds(options.kinds);
    const auto step = options.kernel.empty() ? std::nullopt : std::optional(step_from_name(options.kernel));
    for (const std::string& name : names_) {
      const std::int64_t budget = name == "machine" ? options.machine_macs
                                  : name == "gpu"   ? options.gpu_macs
                                                    : options.model_macs;
      if (budget / least_macs < options.count) {
        throw Error(
            fmt::format("--{}-macs: {} multiply-adds are too few for {} problems; needed are {} for each",
                        name, budget, options.count, least_macs));
      }
      participants_.push_back({make_engine(name), budget});
    }
    const auto runs_kernels = [](const Participant& p) { return p.engine->runs_kernels(); };
    const bool kernels = std::any_of(participants_.begin(), participants_.end(), runs_kernels);
    drawer_.emplace(context.seed, names_, step, drawable_forms(kinds, kernels ? step : std::nullopt));
  }

  void run() {
    const auto start = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::ratio<60>> limit(options_.minutes);
    Progress progress("verify", options_.count);
    while (problems_ < options_.count && !first_) {
      if (std::isfinite(options_.minutes) && std::chrono::steady_clock::now() - start >= limit) return;
      if (problems_ % batch == 0) compile_ahead();
      one_problem(drawer_->draw(problems_, share()));
      progress.update(++problems_);
    }
  }

  void report(Context& context) const {
    context.status = first_ ? 1 : 0;
    context.text = fmt::format("{} random problem{} through {}, seed {}: ", problems_,
                               problems_ == 1 ? "" : "s", fmt::join(names_, ", "), context_.seed);
    context.text +=
        first_ ? "the last one differs\n" : fmt::format("no differing bit in {} elements\n", elements_);
    Json macs = Json::object(), kinds = Json::object();
    for (const auto& [kind, count] : kinds_) kinds[kind] = count;
    if (!kinds_.empty()) context.text += fmt::format("  {}\n", kinds_text());
    for (std::size_t i = 0; i < names_.size(); ++i) {
      context.text += fmt::format("  {}: {:.3g} multiply-adds, device {}, driver {}\n", labels_[i],
                                  static_cast<double>(participants_[i].spent),
                                  participants_[i].engine->device(), participants_[i].engine->driver());
      macs[labels_[i]] = participants_[i].spent;
    }
    if (first_) context.text += difference_text(*first_);
    context.answer = {{"engines", names_},     {"problems", problems_},
                      {"elements", elements_}, {"differing", first_ ? 1 : 0},
                      {"kinds", kinds},        {"macs", macs},
                      {"seed", context_.seed}, {"first", first_ ? difference_json(*first_) : Json(nullptr)}};
  }

 private:
  /// "1d2d 12, masked 8"
  std::string kinds_text() const {
    std::string text;
    for (const auto& [kind, count] : kinds_)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, count);
    return text;
  }

  /// What the next problem may cost: about eight times an even share of what is left, and always so little that those to
  /// come can be had. Most problems cost less than their share, a few would cost a hundred times it.
  std::int64_t share() const {
    const std::int64_t to_come = options_.count - problems_;
    std::int64_t least = no_limit;
    for (const Participant& participant : participants_) {
      const std::int64_t rest = participant.budget - participant.spent;
      least = std::min({least, rest / (to_come + 8) * 8, rest - (to_come - 1) * least_macs});
    }
    return std::max(least, least_macs);
  }

  void compile_ahead() {
    const std::int64_t end = std::min(problems_ + batch, options_.count);
    for (std::size_t i = 0; i < participants_.size(); ++i) {
      std::vector<GemmConfig> configs;
      for (std::int64_t problem = problems_; problem < end; ++problem)
        configs.push_back(drawer_->config(problem, i));
      participants_[i].engine->prepare(configs, context_.threads);
    }
  }

  std::vector<std::byte> run_one(const Problem& problem, const Draw& draw, std::size_t i) {
    try {
      participants_[i].spent += draw.problem.macs();
      return participants_[i].engine->run(problem, draw.output, draw.runs[i]).d;
    } catch (const Error& error) {
      throw Error(fmt::format("{} (problem {}; reproduce it with: {})", error.what(), problems_,
                              fmt::join(reproducer(draw, names_, i), " && ")));
    }
  }

  void one_problem(Draw draw) {
    const ProblemExtents extents = draw.problem.extents();
    const RandomProblem drawn(extents, draw.problem.distribution, draw.problem.seed, context_.threads);
    const Problem problem = read_problem(drawn.file("the random problem", {}));
    for (RunOptions& run : draw.runs) run.threads = context_.threads;
    const auto model = std::find(names_.begin(), names_.end(), "model");
    if (model != names_.end()) {
      draw.runs[static_cast<std::size_t>(model - names_.begin())].core =
          with_fraction_bits(static_cast<int>(options_.fraction_bits));
    }
    std::vector<std::byte> first;
    for (std::size_t i = 0; i < participants_.size() && !first_; ++i) {
      const std::vector<std::byte> d = run_one(problem, draw, i);
      if (i == 0) {
        first = d;
      } else if (d != first) {
        const Tensor a{"d", draw.output, problem.d_shape(), first}, b{"d", draw.output, problem.d_shape(), d};
        first_ =
            FirstDifference{draw, extents, problem.d_shape(), i,
                            compare(a, b, {.threads = context_.threads, .first_count = 1, .ranges = {}})};
      }
    }
    elements_ += element_count(problem.d_shape());
    ++kinds_[std::string(kind_name(draw.problem.form.kind))];
  }

  std::string difference_text(const FirstDifference& d) const {
    const Difference& at = d.comparison.first.front();
    std::string text = fmt::format(
        "problem {}: {}, M {}, N {}, K {}, {} group{}, {}: {} of {} elements differ; at {}: {} has {} {}, {} "
        "has {} {}\nto see it:\n",
        problems_ - 1, kind_name(d.extents.kind), d.extents.m, d.extents.n, d.extents.k, d.extents.groups,
        d.extents.groups == 1 ? "" : "s", distribution_name(d.draw.problem.distribution),
        d.comparison.different, d.comparison.elements, shape_text(index(d)), labels_[0],
        word_text(d.draw.output, at.a), word_hex(d.draw.output, at.a), labels_[d.other],
        word_text(d.draw.output, at.b), word_hex(d.draw.output, at.b));
    for (const std::string& line : reproducer(d.draw, names_, d.other)) text += "  " + line + "\n";
    return text;
  }

  Json difference_json(const FirstDifference& d) const {
    const Difference& at = d.comparison.first.front();
    return {{"problem", problems_ - 1},
            {"kind", kind_name(d.extents.kind)},
            {"m", d.extents.m},
            {"n", d.extents.n},
            {"k", d.extents.k},
            {"groups", d.extents.groups},
            {"engines", {labels_[0], labels_[d.other]}},
            {"different", d.comparison.different},
            {"index", index(d)},
            {"a", word_hex(d.draw.output, at.a)},
            {"b", word_hex(d.draw.output, at.b)},
            {"reproduce", reproducer(d.draw, names_, d.other)}};
  }

  static Shape index(const FirstDifference& d) {
    return coordinates(d.shape, d.comparison.first.front().index);
  }

  const Context& context_;
  const VerifyOptions& options_;
  std::vector<std::string> names_;
  std::vector<std::string> labels_;
  std::optional<Drawer> drawer_;
  std::vector<Participant> participants_;
  std::int64_t problems_ = 0, elements_ = 0;
  std::map<std::string, std::int64_t> kinds_;  // problems of each
  std::optional<FirstDifference> first_;
};

void add_macs(CLI::App* command, const char* name, std::int64_t& macs, const char* description) {
  command
      ->add_option_function<std::string>(
          name,
          [&macs, name](const std::string& text) {
            macs = static_cast<std::int64_t>(std::min(parse_positive(name, text), 4e18));
          },
          description)
      ->type_name("NUMBER");
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command =
      add_command(app, context, "verify",
                  "Runs random problems of every kind that the engines take through several engines until "
                  "one differs, and says how "
                  "to see it.",
                  "fp8twin verify --engines model,machine --count 20 --machine-macs 2e8\n"
                  "  fp8twin verify --engines model,model --count 100 --kind masked,contiguous\n"
                  "  fp8twin verify --engines model,gpu --count 1000 --minutes 10 --kernel 7");
  command
      ->add_option("--engines", options->engines,
                   "two or more of model, machine, gpu, with commas between; model twice: with other vector "
                   "instructions; machine twice: in other configurations and orders")
      ->required()
      ->type_name("LIST");
  command
      ->add_option(
          "--kind", options->kinds,
          "draw only problems of these kinds, with commas between; may be repeated (default: all of 1d2d, "
          "1d1d, batched, contiguous, masked and k-grouped that the engines take)")
      ->take_all()
      ->expected(1)
      ->type_name("LIST");
  add_integer(command, "--count", options->count, "problems to try (default 100)", 1, std::int64_t{1} << 40);
  command
      ->add_option_function<std::string>(
          "--minutes",
          [options](const std::string& text) { options->minutes = parse_positive("--minutes", text); },
          "begin no problem after this many minutes")
      ->type_name("NUMBER");
  command
      ->add_option("--kernel", options->kernel,
                   "one step of the ladder, by name or number (default: all, in every configuration offered)")
      ->type_name("STEP");
  add_macs(command, "--model-macs", options->model_macs,
           "multiply-adds each model may spend in all (default: any number)");
  add_macs(command, "--machine-macs", options->machine_macs,
           "multiply-adds the machine may spend in all (default 2e10); larger problems are drawn smaller");
  add_macs(command, "--gpu-macs", options->gpu_macs,
           "multiply-adds the card may spend in all (default 2e11)");
  add_integer(command, "--fraction-bits", options->fraction_bits,
              "model (the first, if there are two): what if the tensor core kept this many bits below 2^E: "
              "shows what a difference "
              "looks like",
              min_fraction_bits, max_fraction_bits);
  command->callback([&context, options] {
    Verification verification(context, *options);
    verification.run();
    verification.report(context);
  });
}

}  // namespace fp8twin::cli
