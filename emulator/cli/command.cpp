#include "emulator/cli/command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cmath>

namespace fp8twin::cli {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

CLI::App* add_command(CLI::App& app, Context& context, const std::string& name, const std::string& description,
                      const std::string& example) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_flag("--json", context.json, "print one JSON object on stdout and nothing else");
  command->add_option("--threads", context.threads, "threads to use (0: all)")->check(CLI::Range(0, 4096));
  command->add_option("--seed", context.seed, "seed of everything random")->capture_default_str();
  command->footer("Example:\n  " + example);
  return command;
}

Metadata provenance(const Context& context, const std::string& engine) {
  return {{"program", "fp8twin " FP8TWIN_VERSION},
          {"command", context.command_line},
          {"seed", std::to_string(context.seed)},
          {"engine", engine}};
}

Progress::Progress(std::string what, std::int64_t total)
    : what_(std::move(what)), total_(total), started_ns_(now_ns()), terminal_(isatty(STDERR_FILENO) == 1) {}

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

std::string hex(std::uint64_t bits, int digits) { return fmt::format("0x{:0{}x}", bits, digits); }

Json number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace fp8twin::cli
