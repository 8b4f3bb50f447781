// The program fp8twin-mpi: what `fp8twin gemm` does on the model, shared out over the ranks of an MPI job.
//
//   all      read the options, map the problem, agree that it is the same
//   rank 0   the output file: named beside its target, its length reserved, its header
//   all      own share of d into the file
//   rank 0   rename, answer
//
// Each line is a step (emulator/mpi/team.hpp): what goes wrong on one rank ends the job on all, with one sentence.
#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <vector>

#include "emulator/cli/arguments.hpp"
#include "emulator/cli/job.hpp"
#include "emulator/cli/process.hpp"
#include "emulator/files/atomic_file.hpp"
#include "emulator/mpi/share_gemm.hpp"
#include "emulator/mpi/shared_output.hpp"
#include "emulator/mpi/team.hpp"
#include "emulator/mpi/watch.hpp"

namespace fp8twin::mpi {
namespace {

struct Job {
  cli::Context context;
  cli::JobOptions options;
  bool progress = false;
  std::string only_print;  // --help or --version: what it says

  Problem problem;
  DType output = DType::bf16;
  GemmOptions gemm;
  std::vector<GemmSlice> slices;
};

void parse(Job& job, int argc, char** argv) {
  CLI::App app{
      "Computes d of a problem file as fp8twin gemm does on the model, byte for byte, shared out over the "
      "ranks of an "
      "MPI job.",
      "fp8twin-mpi"};
  cli::set_up_command_program(app, job.context, "mpirun -n 4 fp8twin-mpi p.safetensors -o d.safetensors");
  cli::add_job_files(&app, job.options, "PROBLEM");
  app.get_option("PROBLEM")->required();
  app.get_option("-o")->required();
  cli::add_model_options(&app, job.options);
  cli::add_result_options(&app, job.options);
  app.add_flag(
      "--progress", job.progress,
      "a line on stderr for each tenth of all ranks' work; without it a counter, if that is a terminal");
  app.get_option("--threads")
      ->description("threads of each rank (default 0: its share of the node's hardware threads)");
  cli::unmark_all_options(app);
  const std::vector<std::string> arguments = cli::mark_negative_numbers(argc, argv);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    job.only_print = app.help();
  } catch (const CLI::CallForVersion& version) {
    job.only_print = version.what() + std::string("\n");
  } catch (const CLI::ParseError& error) {
    throw Error(cli::usage_message(app, arguments, error));
  }
}

void read(Job& job) {
  job.problem = read_problem(read_tensor_file(job.options.problem));
  job.output = cli::output_type(job.options, job.problem.default_output());
  job.gemm = {.threads = job.context.threads,
              .promote = cli::promotes(job.options),
              .core = with_fraction_bits(static_cast<int>(job.options.fraction_bits)),
              .simd = job.options.simd};
  job.slices = slices(job.problem);
}

/// A number that tells problems of different shapes or groups apart: FNV-1a over all that decides the shares.
std::uint64_t fingerprint(const Job& job) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](std::int64_t word) {
    for (int byte = 0; byte < 8; ++byte)
      hash = (hash ^ (static_cast<std::uint64_t>(word) >> (8 * byte) & 0xff)) * 0x100000001b3u;
  };
  const Problem& p = job.problem;
  for (const std::int64_t word : {static_cast<std::int64_t>(p.kind), p.m, p.n, p.k, p.groups}) add(word);
  for (const GemmSlice& s : job.slices) {
    const std::int64_t first_b = s.b - p.b.data();
    for (const std::int64_t word : {s.m, s.n, s.k, s.d_offset, first_b}) add(word);
  }
  return hash;
}

/// Without promotion the scales must be constant along K, which gemm_slice checks; a slice without columns, or without
/// rows, costs nothing else. Here and not in the shares, whose sentence would count rows from the share's first.
void check_scales(const Job& job) {
  if (job.gemm.promote) return;
  for (const GemmSlice& slice : job.slices) {
    GemmSlice no_columns = slice, no_rows = slice;
    no_columns.n = 0;
    no_rows.m = 0;
    try {
      gemm_slice(no_columns, job.output, nullptr, slice.n, job.gemm);
      gemm_slice(no_rows, job.output, nullptr, slice.n, job.gemm);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", job.options.problem, error.what()));
    }
  }
}

std::string header_of(const Job& job) {
  const Tensor d{"d", job.output, job.problem.d_shape(), {}};
  return tensor_file_header(job.options.out, d,
                            cli::result_metadata(job.context, job.options, "model", job.problem));
}

void report(const Team& team, Job& job) {
  cli::Context& context = job.context;
  cli::report_result(context, job.options, "model", job.problem, job.output);
  context.text.back() = ',';  // in place of the end of the line
  context.text += fmt::format(" {} rank{}\n", team.size(), team.size() == 1 ? "" : "s");
  context.answer["device"] = "cpu";
  context.answer["driver"] = "none";
  context.answer["ranks"] = team.size();
  cli::write_stdout(context.json
                        ? context.answer.dump(-1, ' ', false, cli::Json::error_handler_t::replace) + "\n"
                        : context.text);
}

void compute(const Team& team, Job& job) {
  const std::string header = header_of(job);
  const auto d_size = static_cast<std::size_t>(element_count(job.problem.d_shape())) * dtype_size(job.output);
  std::optional<AtomicFile> whole;
  team.together([&] {
    if (!team.first()) return;
    cli::need_writable(job.options.out, {job.options.problem});
    check_scales(job);
    whole.emplace(job.options.out, AtomicFile::Keep::named);
    whole->reserve(header.size() + d_size);
    whole->write(std::as_bytes(std::span(header)));
  });
  const std::string unfinished = team.broadcast(whole ? whole->unfinished_name() : "");
  std::optional<SharedOutput> file;
  team.together([&] { file.emplace(job.options.out, unfinished); });

  const std::vector<Share> all = shares(job.slices, team.size());
  double total = 0;
  for (const Share& share : all)
    for (const Rectangle& r : share) total += work_of(job.slices[r.slice], r);
  const int threads = team.hardware_threads();
  if (job.gemm.threads == 0) job.gemm.threads = threads;
  const Placement d{static_cast<std::int64_t>(header.size()), job.problem.n, job.output};
  team.together([&] {
    Watch watch(team, total, job.progress);
    watch.over([&] {
      compute_share(job.slices, all[static_cast<std::size_t>(team.rank())], d, job.gemm, *file,
                    [&watch](double done) { watch.update(done); });
    });
  });
  team.together([&] { file->close(); });
  team.together([&] {
    if (!team.first()) return;
    whole->commit();
    report(team, job);
  });
}

void run(const Team& team, int argc, char** argv) {
  Job job;
  team.together([&] { parse(job, argc, argv); });
  if (!job.only_print.empty()) {
    team.together([&] {
      if (team.first()) cli::write_stdout(job.only_print);
    });
    return;
  }
  team.together([&] { read(job); });
  team.need_same(fingerprint(job),
                 fmt::format("{}: is another problem here than on rank 0; all ranks need the same file",
                             job.options.problem));
  compute(team, job);
}

/// mpirun kills every rank within milliseconds of the first one's end, and rank 0 has a file to remove. So after a signal the
/// others stay for two more seconds.
extern "C" void leave_later(int) { alarm(2); }

void let_rank_0_go_first() {
  struct sigaction action = {};
  action.sa_handler = leave_later;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace
}  // namespace fp8twin::mpi

int main(int argc, char** argv) {
  fp8twin::cli::prepare_process();
  const fp8twin::mpi::Team team(argc, argv);
  if (!team.first()) fp8twin::mpi::let_rank_0_go_first();
  try {
    fp8twin::mpi::run(team, argc, argv);
    return 0;
  } catch (...) {
    if (team.first()) std::fprintf(stderr, "fp8twin-mpi: %s\n", fp8twin::cli::failure_text().c_str());
    return 2;
  }
}
