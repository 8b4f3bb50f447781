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

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <optional>
#include <span>
#include <vector>

#include "emulator/cli/arguments.hpp"
#include "emulator/cli/job.hpp"
#include "emulator/cli/process.hpp"
#include "emulator/files/atomic_file.hpp"
#include "emulator/mpi/share_gemm.hpp"
#include "emulator/mpi/shared_output.hpp"
#include "emulator/mpi/team.hpp"
#include "emulator/mpi/watch.hpp"
#include "emulator/support/fnv1a.hpp"

namespace fp8twin::mpi {
namespace {

// The unfinished file's name, for a signal handler that may not touch a string.
char unfinished_name[4096];
std::atomic<bool> has_unfinished_file = false;

/// mpirun kills rank 0, without a word to it, within milliseconds or a second of another rank's end. So another rank that
/// gets a signal removes the file that rank 0 would remove, and stays for two more seconds, in which rank 0 may leave by itself.
extern "C" void leave_later(int) {
  if (has_unfinished_file) unlink(unfinished_name);
  alarm(2);
}

void remember_unfinished_file(const std::string& name) {
  if (name.size() >= sizeof unfinished_name) return;
  name.copy(unfinished_name, name.size());
  has_unfinished_file = true;
}

void let_rank_0_go_first() {
  struct sigaction action = {};
  action.sa_handler = leave_later;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

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

void add_text(Fnv1a& hash, const std::string& text) {
  hash.add(static_cast<std::int64_t>(text.size()));
  hash.add(std::string_view(text));
}

/// The size and some 256 pieces of 8 bytes, spread over all: a stale copy of a file is hardly the same in all of them, and
/// few pages of the map are touched for it.
void add_sample(Fnv1a& hash, std::span<const std::byte> bytes) {
  hash.add(static_cast<std::int64_t>(bytes.size()));
  const std::size_t stride = std::max<std::size_t>(8, bytes.size() / 256);
  for (std::size_t at = 0; at < bytes.size(); at += stride) {
    hash.add(bytes.subspan(at, std::min<std::size_t>(8, bytes.size() - at)));
  }
}

/// Of the options that decide what is written; threads and instructions do not.
std::uint64_t options_fingerprint(const Job& job) {
  Fnv1a hash;
  for (const std::string& text : {job.only_print, job.options.out, job.options.output, job.options.promote})
    add_text(hash, text);
  hash.add(job.options.fraction_bits);
  return hash.value();
}

/// Of all that decides the shares, and of a sample of every operand.
std::uint64_t fingerprint(const Job& job) {
  Fnv1a hash;
  const auto add = [&hash](std::int64_t word) { hash.add(word); };
  const Problem& p = job.problem;
  for (const std::int64_t word : {static_cast<std::int64_t>(p.kind), p.m, p.n, p.k, p.groups}) add(word);
  for (const std::span<const std::byte> operand :
       {std::as_bytes(p.a), std::as_bytes(p.b), std::as_bytes(p.a_scale), std::as_bytes(p.b_scale),
        std::as_bytes(p.c)}) {
    add_sample(hash, operand);
  }
  for (const GemmSlice& s : job.slices) {
    const std::int64_t first_b = s.b - p.b.data();
    for (const std::int64_t word : {s.m, s.n, s.k, s.d_offset, first_b}) add(word);
  }
  return hash.value();
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
  if (!team.first()) remember_unfinished_file(unfinished);
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
  has_unfinished_file = false;  // from here on it may have its final name
  team.together([&] {
    if (!team.first()) return;
    whole->commit();
    report(team, job);
  });
}

void run(const Team& team, int argc, char** argv) {
  Job job;
  team.together([&] { parse(job, argc, argv); });
  team.need_same(options_fingerprint(job),
                 "the ranks were given different options; needed are the same for all");
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
