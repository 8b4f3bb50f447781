// What every command of the program shares: the common options, the way results reach stdout, the exit status.
//
// A command is one file: add_NAME(app, context) declares the options and help, and a callback that does the work. The
// callback collects its answer in the context; main() prints it only when the command succeeded, so that stdout stays
// empty on an error. Exit status: 0 done or equal, 1 a comparison found a difference, 2 anything else (an Error).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {

using Json = nlohmann::ordered_json;

struct Context {
  // common options
  bool json = false;
  int threads = 0;  // 0: one for each hardware thread
  std::uint64_t seed = 1;

  // the answer
  std::string text;              // printed without --json
  Json answer = Json::object();  // printed with --json
  int status = 0;                // 0 or 1
};

/// The program's own options and the way help is set.
void set_up_program(CLI::App& app);

/// A program that is one command: the options of every command, too, and `example` to close its --help.
void set_up_command_program(CLI::App& app, Context& context, const std::string& example);

/// Adds the subcommand `name` of `app` (the program, or a command of several kinds) with --json, --threads, --seed and --version; `example` closes its --help.
CLI::App* add_command(CLI::App& app, Context& context, const std::string& name,
                      const std::string& description, const std::string& example);

/// Metadata of every file the program writes: program version, seed, engine, device, driver. No path, time or thread
/// count: the same work gives the same bytes, wherever it is done and whatever the file is called.
Metadata provenance(const Context& context, const std::string& engine);

/// Throws Error if an output file could not be created, or is one of `inputs` by any name, whose bytes would be lost:
/// before the work, not after. (A pipe is not tried: it opens once.)
void need_writable(const std::string& path, const std::vector<std::string>& inputs = {});

/// Progress on stderr: only on a terminal, only for work longer than a second, wiped when done.
class Progress {
 public:
  Progress(std::string what, std::int64_t total);
  /// For whoever knows better where stderr ends.
  Progress(std::string what, std::int64_t total, bool terminal);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(std::int64_t done);  // from one thread at a time

 private:
  std::string what_;
  std::int64_t total_;
  std::int64_t started_ns_ = 0, printed_ns_ = 0;
  bool terminal_ = false, shown_ = false;
};

// Hex strings and numbers as docs/cli.md promises them to scripts.
std::string hex(std::uint64_t bits, int digits);  // "0x7e"
Json number(double value);                        // a JSON number, or "NaN", "inf", "-inf"

void add_random(CLI::App& app, Context& context);
void add_quantize(CLI::App& app, Context& context);
void add_dequantize(CLI::App& app, Context& context);
void add_gemm(CLI::App& app, Context& context);
void add_wgmma(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_analyze(CLI::App& app, Context& context);
void add_transpose(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_layout(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_pack(CLI::App& app, Context& context);

}  // namespace fp8twin::cli
