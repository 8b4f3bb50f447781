// fp8twin-tune: times configurations of the ladder's kernels on a shape, and ranks them.
//
//   compile all, in parallel  ->  a few rounds each  ->  the best few again, in turn, more rounds  ->  a table
//
// The table marks what choose_config() would take (*), which is among the best few whatever its rank, and says why, and how far
// from the best.
//
// --compile-only stops after the first step and needs no card: with FP8TWIN_CACHE_DIR the compiled kernels travel to one.
// --estimate prints what the chooser's model says instead, and needs nothing.
//
// A configuration that does not compile or launch is a row that says why. One that faults or hangs takes the card's context with
// it: the program then starts again without it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "emulator/files/atomic_file.hpp"
#include "emulator/support/error.hpp"
#include "gpu/bench/candidates.hpp"
#include "gpu/bench/card_problem.hpp"
#include "gpu/bench/contest.hpp"
#include "gpu/bench/estimates.hpp"
#include "gpu/bench/precompile.hpp"
#include "gpu/jit/kernels.hpp"
#include "gpu/launch/choose.hpp"

namespace fp8twin::bench {
namespace {

struct TuneOptions {
  std::vector<std::string> shapes, skip;
  std::string configs = "8,9", json;
  int rounds = 3, final_rounds = 15, finalists = 6, threads = 0, most_rows = 20;
  double flush_gb = 8;
  bool check = false, compile_only = false, estimate = false;
  u32 multiprocessors = 132;  // of an H200; for estimates
  u64 seed = 1;
  KernelTimerOptions timer;
};

struct TuneRow {
  GemmConfig config = {};
  Summary us = {};
  Tiling tiling = {};
  std::string refusal = "";
  i64 differing = -1;   // from the model; -1: not asked
  bool chosen = false;  // by choose_config()
};

char** program_arguments = nullptr;

/// Runs this program again without `config`: the card's context did not survive it.
[[noreturn]] void restart_without(const std::string& config, const std::string& why) {
  fmt::print(stderr, "fp8twin-tune: {}: {}; starting again without it\n", config, why);
  std::fflush(nullptr);
  std::vector<char*> arguments;
  for (char** each = program_arguments; *each; ++each) arguments.push_back(*each);
  std::string option = "--skip=" + config;
  arguments.push_back(option.data());
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());
  std::_Exit(2);
}

bool context_survives(const Device& device) {
  try {
    device.synchronize();
    return true;
  } catch (const Error&) {
    return false;
  }
}

class Tuner {
 public:
  Tuner(const TuneOptions& options, KernelTimer& timer, const Device& device, KernelCache& kernels,
        Contest& contest)
      : options_(options), device_(device), kernels_(kernels), contest_(contest), problems_(options.seed) {
    timer.on_hang = [this](const std::string& why) { restart_without(running_, why); };
  }

  /// Ranked: those that ran, the fastest first, then the others.
  std::vector<TuneRow> tune(const Shape& shape) {
    std::vector<TuneRow> rows = compiled(shape);
    const GemmConfig chosen = chosen_config(shape, multiprocessors());
    for (TuneRow& row : rows) row.chosen = row.config == chosen;
    const HostProblem host = problems_.problem(shape);
    const CardProblem problem(host);
    if (options_.check) model_ = model_d(host);
    for (TuneRow& row : rows) first_rounds(problem, row);
    rank(rows);
    final_rounds(problem, rows);
    rank(rows);
    return rows;
  }

 private:
  u32 multiprocessors() const { return static_cast<u32>(device_.multiprocessors()); }

  std::vector<TuneRow> compiled(const Shape& shape) {
    std::vector<TuneRow> rows;
    std::vector<jit::Source> sources;
    for (const GemmConfig& config : selected_configs(options_.configs, shape)) {
      rows.push_back({.config = config});
      sources.push_back(jit::gemm_source(config));
    }
    const std::vector<std::string> refusals = kernels_.try_prepare(sources, options_.threads);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string name = rows[i].config.name();
      rows[i].refusal = refusals[i].substr(0, refusals[i].find('\n'));
      if (std::find(options_.skip.begin(), options_.skip.end(), name) != options_.skip.end()) {
        rows[i].refusal = "left out: it broke an earlier run (--skip)";
      }
    }
    return rows;
  }

  void first_rounds(const CardProblem& problem, TuneRow& row) {
    if (!row.refusal.empty()) return;
    try {
      OurGemm gemm(kernels_, problem, row.config, multiprocessors());
      row.tiling = tiling_of(gemm.plan(), resident_clusters(gemm));
      gemm.poison();
      const Contender contender = contender_of(row, gemm);
      const ContestResult result = contest_.run(std::span(&contender, 1), options_.rounds).front();
      row.us = result.us;
      row.refusal = result.refusal;
      if (options_.check && row.refusal.empty()) row.differing = differing(gemm.d(), model_);
    } catch (const Error& error) {
      row.refusal = error.what();
    }
    if (!row.refusal.empty() && !context_survives(device_)) restart_without(row.config.name(), row.refusal);
  }

  /// 0 where the driver does not say: a table without waves is still a table.
  static u32 resident_clusters(const OurGemm& gemm) {
    try {
      return gemm.resident_clusters();
    } catch (const Error& error) {
      fmt::print(stderr, "fp8twin-tune: {}: {}\n", gemm.plan().config.name(), error.what());
      return 0;
    }
  }

  Contender contender_of(const TuneRow& row, const OurGemm& gemm) {
    return {row.config.name(), [this, name = row.config.name(), &gemm] {
              running_ = name;
              gemm.launch();
            }};
  }

  /// The best few of a ranking, and the chosen one.
  std::vector<TuneRow*> finalists(std::vector<TuneRow>& rows) const {
    std::vector<TuneRow*> some;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool among_the_best = i < static_cast<std::size_t>(options_.finalists);
      if (rows[i].refusal.empty() && (among_the_best || rows[i].chosen)) some.push_back(&rows[i]);
    }
    return some;
  }

  void final_rounds(const CardProblem& problem, std::vector<TuneRow>& rows) {
    const std::vector<TuneRow*> some = finalists(rows);
    std::vector<std::unique_ptr<OurGemm>> gemms;
    std::vector<Contender> contenders;
    for (const TuneRow* row : some) {
      gemms.push_back(std::make_unique<OurGemm>(kernels_, problem, row->config, multiprocessors()));
      contenders.push_back(contender_of(*row, *gemms.back()));
    }
    if (contenders.size() < 2 || options_.final_rounds == 0) return;
    const std::vector<ContestResult> results = contest_.run(contenders, options_.final_rounds);
    for (std::size_t i = 0; i < results.size(); ++i) {
      some[i]->us = results[i].us;
      some[i]->refusal = results[i].refusal;
      if (!results[i].refusal.empty() && !context_survives(device_)) {
        restart_without(some[i]->config.name(), results[i].refusal);
      }
    }
  }

  /// Those with more rounds first: a finalist's time is not comparable with one that had few.
  static void rank(std::vector<TuneRow>& rows) {
    std::stable_sort(rows.begin(), rows.end(), [](const TuneRow& a, const TuneRow& b) {
      if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
      if (a.us.count != b.us.count) return a.us.count > b.us.count;
      return a.us.median < b.us.median;
    });
  }

  const TuneOptions& options_;
  const Device& device_;
  KernelCache& kernels_;
  Contest& contest_;
  Problems problems_;
  std::vector<std::uint16_t> model_;
  std::string running_;  // the configuration launched last
};

void print_table(const Shape& shape, const std::vector<TuneRow>& rows, int most) {
  fmt::print("\n{}: {} configurations\n", shape.name(), rows.size());
  fmt::print("{:<44} {:>9} {:>9} {:>8} {:>7} {:>7} {:>6} {:>7} {:>7} {:>6}\n", "configuration", "median us",
             "min us", "TFLOP/s", "GB/s", "waves", "tiles", "used", "shared", "rounds");
  int printed = 0;
  for (const TuneRow& row : rows) {
    if (!row.refusal.empty()) continue;
    if (most > 0 && printed++ >= most && row.differing <= 0 && !row.chosen) continue;
    const double us = row.us.median;
    fmt::print("{:<44} {:>9.2f} {:>9.2f} {:>8.0f} {:>7.0f} {:>7.2f} {:>6} {:>6.1f}% {:>7} {:>6}{}\n",
               row.config.name() + (row.chosen ? " *" : ""), us, row.us.min, shape.operations() / us * 1e-6,
               shape.bytes() / us * 1e-3, row.tiling.waves, row.tiling.tiles, 100 * row.tiling.efficiency,
               row.config.shared_bytes(), row.us.count,
               row.differing > 0 ? fmt::format("   {} elements differ from the model", row.differing) : "");
  }
  for (const TuneRow& row : rows) {
    if (!row.refusal.empty()) fmt::print("{:<42} {}\n", row.config.name(), row.refusal);
  }
  std::fflush(stdout);
}

/// Why the first of a ranking is the first, as far as numbers say: what it keeps busy, and by how much it leads.
void print_best(const std::vector<TuneRow>& rows) {
  if (rows.empty() || !rows[0].refusal.empty()) return;
  const TuneRow& best = rows[0];
  const double kilobytes = best.config.stages * (best.config.tile_m + best.config.tile_n) * 128 / 1024.0;
  fmt::print(
      "best: {}: {} tiles in {:.2f} waves, {:.1f}% of them D, {:.0f} KB of operands in {} stages a block",
      best.config.name(), best.tiling.tiles, best.tiling.waves, 100 * best.tiling.efficiency, kilobytes,
      best.config.stages);
  if (rows.size() > 1 && rows[1].refusal.empty()) {
    fmt::print("; {:.1f}% before {}", 100 * (rows[1].us.median / best.us.median - 1), rows[1].config.name());
  }
  fmt::print("\n");
}

/// What choose_config() takes, why, and how far that is from the best.
void print_chosen(const Shape& shape, const std::vector<TuneRow>& rows, u32 multiprocessors) {
  const GemmConfig chosen = chosen_config(shape, multiprocessors);
  const auto found = std::find_if(rows.begin(), rows.end(), [](const TuneRow& row) { return row.chosen; });
  fmt::print("chosen: {}: {}; ", chosen.name(),
             why(estimate(shape.m, shape.n, shape.k, chosen, multiprocessors)));
  if (found == rows.end() || !found->refusal.empty()) {
    fmt::print("not measured here\n");
  } else {
    fmt::print("measured {:.2f} us, {:.1f}% behind the best\n", found->us.median,
               100 * (found->us.median / rows[0].us.median - 1));
  }
}

nlohmann::ordered_json json_of(const Shape& shape, const std::vector<TuneRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TuneRow& row : rows) {
    nlohmann::ordered_json entry = {{"config", row.config.name()},
                                    {"stages", row.config.stages},
                                    {"chosen", row.chosen},
                                    {"shared_bytes", row.config.shared_bytes()}};
    if (row.refusal.empty()) {
      const double us = row.us.median;
      entry.update({{"median_us", us},
                    {"mean_us", row.us.mean},
                    {"min_us", row.us.min},
                    {"rounds", row.us.count},
                    {"tflops", shape.operations() / us * 1e-6},
                    {"gbytes_per_s", shape.bytes() / us * 1e-3},
                    {"waves", row.tiling.waves},
                    {"tiles", row.tiling.tiles},
                    {"tile_efficiency", row.tiling.efficiency}});
      if (row.differing >= 0) entry["differing"] = row.differing;
    } else {
      entry["refused"] = row.refusal;
    }
    list.push_back(entry);
  }
  return {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}, {"configs", list}};
}

/// Every shape asked for. Throws Error for one that cannot be read, and for configurations that nobody has.
std::vector<Shape> shapes_of(const TuneOptions& options) {
  std::vector<Shape> shapes;
  for (const std::string& text : options.shapes) {
    for (const Shape& shape : parse_shapes(text)) {
      selected_configs(options.configs, shape);
      shapes.push_back(shape);
    }
  }
  return shapes;
}

void write_json(const std::string& path, const nlohmann::ordered_json& answer) {
  const std::string text = answer.dump(1) + "\n";
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

int run(const TuneOptions& options) {
  if (std::isnan(options.flush_gb)) throw Error("--flush-gb is not a number");  // CLI11's Range lets it pass
  const std::vector<Shape> shapes =
      shapes_of(options);  // what is wrong with them is said before a card is asked for
  if (options.estimate) {
    for (const Shape& shape : shapes) {
      fmt::print("{}", estimates(shape, options.multiprocessors, options.most_rows));
    }
    return 0;
  }
  if (options.compile_only) return precompile(shapes, options.configs, options.threads);
  if (!options.json.empty())
    const AtomicFile json(options.json);  // where it cannot be written, nothing is measured
  KernelTimer timer(options.timer);
  const Device device;
  KernelCache kernels;
  timer.begin(device, kernels);
  Contest contest(timer, static_cast<std::size_t>(options.flush_gb * 1e9));
  fmt::print("{}, driver {}, CUDA {}; {}\n", device.name(), device.driver_version(), device.cuda_version(),
             timer.method());
  fmt::print("{:.1f} GB written before every run\n", static_cast<double>(contest.flush_bytes()) * 1e-9);
  nlohmann::ordered_json answer = {{"device", device.name()},
                                   {"driver", device.driver_version()},
                                   {"cuda", device.cuda_version()},
                                   {"method", timer.method()}};
  answer["shapes"] = nlohmann::ordered_json::array();
  Tuner tuner(options, timer, device, kernels, contest);
  for (const Shape& shape : shapes) {
    const std::vector<TuneRow> rows = tuner.tune(shape);
    print_table(shape, rows, options.most_rows);
    print_best(rows);
    print_chosen(shape, rows, static_cast<u32>(device.multiprocessors()));
    std::fflush(stdout);
    answer["shapes"].push_back(json_of(shape, rows));
    if (!options.json.empty()) write_json(options.json, answer);  // what there is so far
  }
  return 0;
}

}  // namespace
}  // namespace fp8twin::bench

int main(int argc, char** argv) {
  using namespace fp8twin::bench;
  TuneOptions options;
  CLI::App app{"Times configurations of the ladder's kernels on an H100 or H200 and ranks them",
               "fp8twin-tune"};
  app.add_option("--shape", options.shapes, "M,N,K or M,N,K;M,N,K ...; may be repeated")->required();
  app.add_option("--configs", options.configs, "all, a step, or names of configurations with commas between")
      ->capture_default_str();
  app.add_option("--skip", options.skip, "configurations to leave out");
  app.add_option("--rounds", options.rounds, "rounds of the first pass")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--final-rounds", options.final_rounds, "rounds of the second pass; 0: none")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  app.add_option("--finalists", options.finalists, "configurations in the second pass")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  app.add_option("--rows", options.most_rows, "rows to print; 0: all")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--flush-gb", options.flush_gb, "gigabytes written before every run")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the operands")->capture_default_str();
  app.add_option("--threads", options.threads, "compilations at a time; 0: one for each hardware thread")
      ->check(CLI::Range(0, 1024));
  app.add_option("--json", options.json, "write all rows to this file");
  app.add_option("--cupti", options.timer.cupti, "CUPTI's library");
  app.add_flag("--events", options.timer.events, "time with events, not with CUPTI");
  app.add_flag("--compile-only", options.compile_only, "compile into the disk cache and stop; needs no GPU");
  app.add_flag("--estimate", options.estimate,
               "print what the chooser's model says of its candidates, and why it chooses one, and stop; "
               "needs no GPU");
  app.add_option("--multiprocessors", options.multiprocessors, "with --estimate: how many there are")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  app.add_flag("--check", options.check, "compare every configuration's D with the model");
  program_arguments = argv;
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fp8twin-tune: {}\n", error.what());
  }
  return 2;
}
