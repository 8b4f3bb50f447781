// The program fp8twin-capture: options, and one line for every error.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "gpu/capture/capture.hpp"

int main(int argc, char** argv) {
  using namespace fp8twin::capture;
  CLI::App app{"Compares an H100 or H200 with integer oracles, and records the golden files of tests/golden",
               "fp8twin-capture"};
  app.set_version_flag("--version", "fp8twin-capture " FP8TWIN_VERSION);
  app.require_subcommand(1);
  Session session;
  session.command = "fp8twin-capture";
  for (int i = 1; i < argc; ++i) session.command += std::string(" ") + argv[i];
  int status = 0;

  const auto add = [&](const char* name, const char* description) {
    CLI::App* command = app.add_subcommand(name, description);
    command->add_option("--seed", session.seed, "seed of all random inputs")->capture_default_str();
    command->add_option("--threads", session.threads,
                        "compilations at a time; 0: one for each hardware thread");
    return command;
  };
  const auto add_record = [&](CLI::App* command) {
    command->add_option("--record", session.record_path, "write the counts to this JSON file");
  };

  double outputs = 1e9;
  CLI::App* compare_command =
      add("compare", "random wgmma on the card against an integer oracle on the card");
  compare_command
      ->add_option("--outputs", outputs, "outputs of single instructions; each variant adds a tenth")
      ->check(CLI::Range(1.0, 1e15))
      ->capture_default_str();
  compare_command->add_option("--n", session.shapes, "only these N")->delimiter(',');
  compare_command
      ->add_option("--oracle-bits", session.oracle_bits,
                   "a control: align the oracle to another width than 13")
      ->check(CLI::Range(8, 20));
  add_record(compare_command);
  compare_command->callback([&] { status = compare(session, outputs); });

  CLI::App* convert_command = add("convert", "cvt to E4M3, E5M2 and BF16 over all 2^32 inputs");
  add_record(convert_command);
  convert_command->callback([&] { status = convert(session); });

  int rounds = 4;
  bool time = false;
  CLI::App* quantize_command = add(
      "quantize", "every recipe, scale format, block shape and input type of quantisation against the CPU");
  quantize_command->add_option("--rounds", rounds, "seeds, one after another")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  quantize_command->add_flag("--time", time, "also measure the kernels on 16384 x 7168 BF16");
  add_record(quantize_command);
  quantize_command->callback([&] { status = check_quantize(session, rounds, time); });

  bool small = false;
  CLI::App* gemm_command = add("gemm", "every step of the ladder against an oracle GEMM on the card");
  gemm_command->add_flag("--small", small, "small shapes only (for compute-sanitizer)");
  add_record(gemm_command);
  gemm_command->callback([&] { status = check_gemm(session, small); });

  std::string folder;
  CLI::App* record_command = add("record", "write the golden files");
  record_command->add_option("--out", folder, "folder to write to")->required();
  record_command->callback([&] { status = record(session, folder); });

  std::vector<std::string> problems;
  std::string grouped_folder;
  CLI::App* grouped_command = add("grouped", "record problems of every kind with the card's d");
  grouped_command->add_option("PROBLEM", problems, "problem files (fp8twin random makes them)")->required();
  grouped_command->add_option("--out", grouped_folder, "folder to write to")->required();
  grouped_command->callback([&] { status = grouped(session, grouped_folder, problems); });

  std::string layouts_path;
  CLI::App* layouts_command = add("layouts", "record swizzles, operand addresses and fragments of the card");
  layouts_command->add_option("--out", layouts_path, "JSON file to write")->required();
  bool resume = false;
  layouts_command->add_flag("--resume", resume, "go on with a recording that a fault cut short");
  layouts_command->callback([&] { status = layouts(session, layouts_path, resume); });

  std::string traces_folder;
  CLI::App* traces_command = add("traces", "record traces of the ladder's kernels");
  traces_command->add_option("--out", traces_folder, "folder to write to")->required();
  traces_command->callback([&] { status = traces(session, traces_folder); });

  std::string reduce_path;
  double reduce_pairs = 4e9;
  CLI::App* reduce_command =
      add("reduce", "record what the card's additions to global memory give, TMA's first");
  reduce_command->add_option("--out", reduce_path, "JSON file to write")->required();
  reduce_command->add_option("--pairs", reduce_pairs, "pairs to compare with an integer oracle on the card")
      ->check(CLI::Range(1.0, 1e13))
      ->capture_default_str();
  reduce_command->callback([&] { status = reduce(session, reduce_path, reduce_pairs); });

  std::string bug, broken_path;
  CLI::App* broken_command = add("broken", "run the planted bugs of gpu/kernels/broken_pipeline.hpp");
  CLI::Option* broken_out = broken_command->add_option("--out", broken_path, "JSON file to write");
  broken_command->add_option("--bug", bug, "only this one, in this process, to stdout")->excludes(broken_out);
  broken_command->callback([&] {
    if (bug.empty() && broken_path.empty()) throw CLI::RequiredError("--out FILE or --bug NAME");
    status = broken(session, bug, broken_path);
  });

  CLI::App* compile_command = add("compile", "compile every kernel and print its resources; needs no GPU");
  std::string part;
  compile_command->add_option("--kernel", part, "only those of the ladder with this in their name");
  compile_command->callback([&] { status = compile_all(session, part); });

  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fp8twin-capture: {}\n", error.what());
  }
  return 2;
}
