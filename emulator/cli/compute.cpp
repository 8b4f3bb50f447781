#include "emulator/cli/compute.hpp"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <vector>

#include "emulator/cli/values.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/engine/launchable.hpp"
#include "emulator/engine/trace_file.hpp"
#include "emulator/machine/fault.hpp"
#include "gpu/launch/gemm_data.hpp"

namespace fp8twin::cli {
namespace {

/// One run: everything that decides it.
struct Run {
  std::unique_ptr<Engine> engine;
  DType type;
  RunOptions options;
  bool ladder;  // a kernel of the ladder, in a configuration
};

/// "--trace-tile 0,1": along M and along N, whatever the kernel's tile is; "2,0,1": of group 2. It must be one of D's.
void set_trace_tile(const ComputeOptions& options, const Product& product, RunOptions& run) {
  std::vector<std::int64_t> at = {0, 0};
  const bool grouped = product.form.grouping != Grouping::none;
  if (!options.trace_tile.empty()) {
    at = parse_integers("--trace-tile", options.trace_tile, 0);
    if (at.size() != 2 && !(grouped && at.size() == 3)) {
      throw Error(fmt::format("--trace-tile: found '{}'; two integers such as 0,1 are needed{}",
                              options.trace_tile, grouped ? ", or three, such as 2,0,1: in group 2" : ""));
    }
  }
  if (at.size() == 2) at.insert(at.begin(), 0);
  const std::int64_t group = at[0];
  at.erase(at.begin());
  try {
    if (group >= product.groups) {
      throw Error(fmt::format("there is no group {}; the problem has {}", group, product.groups));
    }
    check_trace_tile(run.config, product.expected_rows()[static_cast<std::size_t>(group)], product.n, at[0],
                     at[1]);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", options.trace_tile.empty() ? "--trace" : "--trace-tile", error.what()));
  }
  run.trace_tile_m = static_cast<std::uint32_t>(at[0]);
  run.trace_tile_n = static_cast<std::uint32_t>(at[1]);
  run.trace_group = static_cast<std::uint32_t>(group);
}

Run prepare(const Context& context, const ComputeOptions& options, const Problem& problem) {
  Run run{make_engine(options.engine), output_type(options, problem.default_output()), {}, false};
  run.options.threads = context.threads;
  run.options.promote = promotes(options);
  run.options.core = with_fraction_bits(static_cast<int>(options.fraction_bits));
  run.options.simd = options.simd;
  set_schedule(options.kernel, run.options);
  if (run.engine->runs_kernels() && problem.kind != Kind::wgmma) {
    run.ladder = true;
    const Product product = product_of(problem);
    const std::int64_t fill = options.kernel.multiprocessors.value_or(run.engine->multiprocessors());
    run.options.multiprocessors = static_cast<std::uint32_t>(fill);
    run.options.config =
        config_for(options.kernel, product, run.type == DType::f32, run.options.multiprocessors);
    run.options.config.trace = !options.trace.empty();
    if (run.options.config.trace) set_trace_tile(options, product, run.options);
  }
  return run;
}

RunResult execute(const Run& run, const ComputeOptions& options, const Problem& problem) {
  std::optional<Progress> progress;
  RunOptions run_options = run.options;
  run_options.progress = [&](std::int64_t done, std::int64_t total) {
    if (!progress) progress.emplace("gemm", total);
    progress->update(done);
  };
  try {
    return run.engine->run(problem, run.type, run_options);
  } catch (const machine::Fault&) {
    throw;  // the kernel's mistake, not the file's
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", options.problem, error.what()));
  }
}

/// What the engine says of itself and of what it ran, for files and for JSON.
Metadata engine_metadata(const Run& run) {
  Metadata metadata{{"device", run.engine->device()}, {"driver", run.engine->driver()}};
  if (run.ladder) metadata.merge(config_metadata(run.options.config));
  if (run.engine->name() == "machine") {
    metadata["schedule"] = schedule_name(run.options.schedule);
    metadata["schedule_seed"] = std::to_string(run.options.schedule_seed);
    metadata["checks"] = run.options.checks ? "on" : "off";
  }
  return metadata;
}

void write_files(const Context& context, const ComputeOptions& options, const Problem& problem,
                 const Run& run, const RunResult& result) {
  Metadata metadata = engine_metadata(run);
  metadata.merge(result_metadata(context, options, options.engine, problem));
  const Tensor d{"d", run.type, problem.d_shape(), result.d};
  write_tensor_file(options.out, {&d, 1}, options.out.ends_with(".npy") ? Metadata{} : metadata);
  if (options.trace.empty()) return;
  const RunOptions& o = run.options;
  const std::size_t group = o.trace_group;
  const std::int64_t m = product_of(problem).expected_rows()[group],
                     k = problem.kind == Kind::k_grouped ? problem.k_sizes[group] : problem.k;
  write_trace_file(options.trace, {m, problem.n, k, o.config, o.trace_tile_m, o.trace_tile_n, o.trace_group},
                   result.trace, metadata);
}

std::string note_text(const machine::BankNote& note) {
  return fmt::format("  {}: {} took {} more wavefronts than its {} accesses need\n", note.site.text(),
                     note.instruction, note.extra_wavefronts, note.accesses);
}

void report(Context& context, const ComputeOptions& options, const Problem& problem, const Run& run,
            const RunResult& result) {
  report_result(context, options, options.engine, problem, run.type);
  for (const auto& [key, value] : engine_metadata(run)) context.answer[key] = value;
  if (run.ladder) context.text += fmt::format("  kernel {}\n", run.options.config.name());
  if (!options.trace.empty()) {
    const bool grouped = run.options.config.form.grouping != Grouping::none;
    context.text += fmt::format("  {}: a trace of tile {},{}{}\n", options.trace, run.options.trace_tile_m,
                                run.options.trace_tile_n,
                                grouped ? fmt::format(" of group {}", run.options.trace_group) : "");
    context.answer["trace"] = options.trace;
  }
  if (run.engine->name() != "machine") return;
  Json notes = Json::array();
  for (const machine::BankNote& note : result.bank_notes) {
    if (note.extra_wavefronts > 0) context.text += note_text(note);
    notes.push_back({{"instruction", note.instruction},
                     {"site", note.site.text()},
                     {"accesses", note.accesses},
                     {"extra_wavefronts", note.extra_wavefronts}});
  }
  context.answer["bank_notes"] = notes;
}

}  // namespace

void add_compute_options(CLI::App* command, ComputeOptions& options, const std::string& input) {
  add_job_files(command, options, input);
  command
      ->add_option(
          "--engine", options.engine,
          "model (default): arithmetic on the CPU; machine: the kernel on the emulated SM90; gpu: the kernel "
          "on the card")
      ->type_name("NAME");
  add_model_options(command, options);
  add_schedule_options(command, options.kernel);
}

void need_files(const std::string& command, const std::string& input, const ComputeOptions& options) {
  const bool no_input = options.problem.empty();
  if (!no_input && !options.out.empty()) return;
  throw Error(fmt::format("{0}: {1} is missing: {2} (fp8twin {0} --help)", command, no_input ? input : "-o",
                          no_input ? about_input : about_output));
}

void need_engine(const ComputeOptions& options) {
  need_engine_name("--engine", options.engine);
  need_options_of(options.engine, options.kernel);
  const bool model = options.engine == "model";
  if (model && !options.trace.empty()) {
    throw Error("--trace: engine model has no steps to trace; needed is --engine machine or gpu");
  }
  if (options.trace.empty() && !options.trace_tile.empty()) {
    throw Error("--trace-tile: names the tile that --trace follows; needed is --trace FILE, too");
  }
  if (!model && options.simd_option->count() > 0) {
    throw Error(fmt::format("--simd: engine {} has no choice of instructions; needed is --engine model",
                            options.engine));
  }
  if (!model && (options.promote != "128" || options.fraction_bits != sm90.fraction_bits)) {
    throw Error(fmt::format(
        "--promote and --fraction-bits: engine {} does what the kernels do; needed is --engine model",
        options.engine));
  }
}

void compute(Context& context, const ComputeOptions& options, const Problem& problem) {
  const Run run = prepare(context, options, problem);
  need_writable(options.out, {options.problem});
  if (!options.trace.empty()) {
    if (options.trace == options.out) throw Error("-o and --trace: name one file; two are needed");
    need_writable(options.trace, {options.problem, options.out});
  }
  const RunResult result = execute(run, options, problem);
  write_files(context, options, problem, run, result);
  report(context, options, problem, run, result);
}

}  // namespace fp8twin::cli
