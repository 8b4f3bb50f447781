#include "emulator/cli/command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/cli/values.hpp"
#include "emulator/files/atomic_file.hpp"

namespace fp8twin::cli {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

constexpr const char* version = "fp8twin " FP8TWIN_VERSION;  // in files, whichever program wrote them
constexpr const char* common = "Options of every command";

/// CLI11's help, with the options of every command after those of the command at hand.
class HelpFormatter : public CLI::Formatter {
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
           option_groups(app) + make_subcommands(app, mode) + "\n" + make_footer(app);
  }

  std::string option_groups(const CLI::App* app) const {
    std::string own, shared;
    for (const std::string& group : app->get_groups()) {
      const auto listed = [&group](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional();
      };
      const std::vector<const CLI::Option*> options = app->get_options(listed);
      if (!options.empty()) (group == common ? shared : own) += make_group(group, false, options);
    }
    return own + shared;
  }
};

void set_up_help(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(32);
}

/// The options of every command, for one command.
void add_common_options(CLI::App& command, Context& context, const std::string& version_text) {
  command.add_flag("--json", context.json, "print one JSON object on stdout and nothing else")->group(common);
  command
      .add_option_function<std::string>(
          "--threads",
          [&context](const std::string& text) {
            context.threads = static_cast<int>(parse_integer("--threads", text, 0, 4096));
          },
          "threads to use (default 0: one for each hardware thread)")
      ->type_name("INT")
      ->group(common);
  command
      .add_option_function<std::string>(
          "--seed", [&context](const std::string& text) { context.seed = parse_unsigned("--seed", text); },
          "seed of everything random (default 1)")
      ->type_name("INT")
      ->group(common);
  command.set_help_all_flag();  // the program's, not the command's
  command.set_help_flag();      // set again below, to be listed here
  command.set_help_flag("-h,--help", "print this help and leave")->group(common);
  command.set_version_flag("--version", version_text, "print the version and leave")->group(common);
}

}  // namespace

void set_up_program(CLI::App& app) {
  set_up_help(app);
  app.set_version_flag("--version", version, "print the version and leave");
  app.set_help_flag("-h,--help", "print this help and leave");
  app.set_help_all_flag("--help-all", "print the help of every command and leave");
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done or equal, 1 a difference, 2 not done (one sentence on stderr), 130 and 143 after "
      "a signal.\n"
      "Example:\n"
      "  fp8twin random p.safetensors --m 64 --n 128 --k 512 && fp8twin gemm p.safetensors -o d.safetensors");
}

void set_up_command_program(CLI::App& app, Context& context, const std::string& example) {
  set_up_help(app);
  app.footer("Example:\n  " + example);
  add_common_options(app, context, app.get_name() + " " FP8TWIN_VERSION);
}

CLI::App* add_command(CLI::App& app, Context& context, const std::string& name,
                      const std::string& description, const std::string& example) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  add_common_options(*command, context, version);
  return command;
}

Metadata provenance(const Context& context, const std::string& engine) {
  return {{"program", version},
          {"seed", std::to_string(context.seed)},
          {"engine", engine},
          {"device", "cpu"},
          {"driver", "none"}};
}

Progress::Progress(std::string what, std::int64_t total)
    : Progress(std::move(what), total, isatty(STDERR_FILENO) == 1) {}

Progress::Progress(std::string what, std::int64_t total, bool terminal)
    : what_(std::move(what)), total_(total), started_ns_(now_ns()), terminal_(terminal) {}

void Progress::update(std::int64_t done) {
  if (!terminal_ || total_ <= 0) return;
  const std::int64_t now = now_ns();
  if (now - started_ns_ < 1'000'000'000 || now - printed_ns_ < 100'000'000) return;
  printed_ns_ = now;
  shown_ = true;
  fmt::print(stderr, "\r{}: {:3d} %", what_, 100 * done / total_);
  std::fflush(stderr);
}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r{:{}}\r", "", what_.size() + 8);
}

void need_writable(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code error;
  for (const std::string& input : inputs) {
    if (std::filesystem::equivalent(path, input, error)) {
      throw Error(fmt::format(
          "{}: is another file of this command and would be lost; needed is another name for the output",
          path));
    }
  }
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
      std::filesystem::is_directory(status)) {
    const AtomicFile trial(path);
  }
}

std::string hex(std::uint64_t bits, int digits) { return fmt::format("0x{:0{}x}", bits, digits); }

Json number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // 448 and not 448.0; but a double's -0 stays one.
  if (value == std::trunc(value) && std::abs(value) < 0x1p53 && !(value == 0 && std::signbit(value))) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

}  // namespace fp8twin::cli
