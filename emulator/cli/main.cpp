// The program: declares every command, runs the one that was asked for, prints its answer, and turns whatever goes
// wrong into one sentence on stderr and status 2.
#include <fmt/core.h>

#include <cstdio>

#include "emulator/cli/arguments.hpp"
#include "emulator/cli/command.hpp"
#include "emulator/cli/process.hpp"

namespace fp8twin::cli {
namespace {

void add_commands(CLI::App& app, Context& context) {
  add_random(app, context);
  add_quantize(app, context);
  add_dequantize(app, context);
  add_transpose(app, context);
  add_gemm(app, context);
  add_wgmma(app, context);
  add_diff(app, context);
  add_analyze(app, context);
  add_verify(app, context);
  add_explain(app, context);
  add_layout(app, context);
  add_inspect(app, context);
  add_pack(app, context);
}

/// The help texts of the commands of `app` and of their kinds; `path` is what to type for `app`.
std::string command_help(const CLI::App& app, const std::string& path) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = path + " " + command->get_name();
    text += fmt::format("\n--- {} ---\n{}", name, command->help(path)) + command_help(*command, name);
  }
  return text;
}

/// Every help text, one after the other.
std::string all_help(const CLI::App& app) { return app.help() + command_help(app, "fp8twin"); }

int run(int argc, char** argv) {
  Context context;
  CLI::App app{"Hopper's FP8 GEMM on a CPU, with the hardware's bits.", "fp8twin"};
  set_up_program(app);
  add_commands(app, context);
  unmark_all_options(app);

  const std::vector<std::string> arguments = mark_negative_numbers(argc, argv);
  try {
    app.parse(
        std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
    // A file's name may be no UTF-8; the work is done, and the answer must not fail over it.
    write_stdout(context.json ? context.answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
                              : context.text);
    return context.status;
  } catch (const CLI::CallForHelp&) {
    write_stdout(app.help());
  } catch (const CLI::CallForAllHelp&) {
    write_stdout(all_help(app));
  } catch (const CLI::CallForVersion& version) {
    write_stdout(version.what() + std::string("\n"));
  } catch (const CLI::ParseError& error) {
    throw Error(usage_message(app, arguments, error));
  }
  return 0;
}

}  // namespace
}  // namespace fp8twin::cli

int main(int argc, char** argv) {
  fp8twin::cli::prepare_process();
  try {
    return fp8twin::cli::run(argc, argv);
  } catch (...) {
    std::fprintf(stderr, "fp8twin: %s\n", fp8twin::cli::failure_text().c_str());
    return 2;
  }
}
