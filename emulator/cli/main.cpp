// The program: declares every command, runs the one that was asked for, prints its answer.
#include <cstdio>
#include <exception>
#include <fmt/core.h>

#include "emulator/cli/command.hpp"

int main(int argc, char** argv) {
  using namespace fp8twin::cli;
  CLI::App app{"Hopper's FP8 GEMM on a CPU, with the hardware's bits", "fp8twin"};
  app.set_version_flag("--version", "fp8twin " FP8TWIN_VERSION);
  app.require_subcommand(1);
  Context context;
  for (int i = 0; i < argc; ++i) context.command_line += (i ? " " : "") + std::string(i ? argv[i] : "fp8twin");
  add_diff(app, context);
  add_analyze(app, context);

  try {
    app.parse(argc, argv);
    const std::string out = context.json ? context.answer.dump() + "\n" : context.text;
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout) != 0) {
      fmt::print(stderr, "fp8twin: standard output could not be written\n");
      return 2;
    }
    return context.status;
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "fp8twin: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "fp8twin: {}\n", error.what());
  }
  return 2;
}
