// The frame: exit statuses, one sentence on stderr and nothing on stdout when something is wrong, help, signals.
#include <filesystem>
#include <iterator>

#include "tests/catch.hpp"
#include "tests/cli/child.hpp"
#include "tests/cli/expect.hpp"

using namespace fp8twin::test;

namespace {

std::size_t files_in(const Folder& folder) {
  const std::filesystem::directory_iterator begin(folder / "");
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
}

}  // namespace

TEST_CASE("help and version are answers, on every command") {
  for (const std::string arguments :
       {"--help", "-h", "gemm --help", "random -h", "explain --help", "wgmma --help"}) {
    const Result result = run(arguments);
    INFO(arguments);
    CHECK(result.status == 0);
    CHECK_THAT(result.out, contains_text("Usage: fp8twin"));
    CHECK_THAT(result.out, contains_text("Example:\n  fp8twin "));
    CHECK(result.err.empty());
  }
  for (const std::string arguments : {"--version", "gemm --version"}) {
    const Result result = run(arguments);
    CHECK(result.status == 0);
    CHECK_THAT(result.out, Catch::Matchers::StartsWith("fp8twin "));
  }
  const Result all = run("--help-all");
  CHECK(all.status == 0);
  for (const std::string command : {"random", "gemm", "wgmma", "explain"}) {
    CHECK_THAT(all.out, contains_text("--- fp8twin " + command + " ---\n"));
    CHECK_THAT(all.out, contains_text("Usage: fp8twin " + command + " "));
  }
}

TEST_CASE("a usage error names what was found and what is near") {
  refuses("", "no command given");
  refuses("gmem p -o d", "no command is called 'gmem'; did you mean gemm?");
  refuses("zzzzzz", "one of random");
  refuses("--json gemm", "--json comes before any command");
  refuses("gemm p -o d --outptu f32", "gemm: no option is called --outptu; did you mean --output?");
  refuses("gemm p --josn", "did you mean --json?");
  refuses("gemm", "PROBLEM is missing");
  refuses("gemm p", "-o is missing");
  refuses("gemm p -o", "-o needs a value");
  refuses("gemm p q -o d", "'q' is one argument too many");
  refuses("explain encode 1 -2", "'-2' is one argument too many");
  refuses("explain encode 1 --seed 1 --seed 2", "--seed is given 2 times");
  refuses("gemm p -o d -o e", "-o is given 2 times");
}

TEST_CASE("an error leaves stdout empty with --json, too") {
  refuses("gemm --json", "PROBLEM is missing");
  refuses("explain e4m3 0x100 --json", "more than 8 bits");
  refuses("gemm /nonexistent/p.safetensors -o d --json", "/nonexistent/p.safetensors");
}

TEST_CASE("integers are decimal, whole and in range") {
  refuses("explain e4m3 1 --threads 1e3", "--threads: '1e3' is not a decimal integer");
  refuses("explain e4m3 1 --threads 0x10", "'0x10' is not a decimal integer");
  refuses("explain e4m3 1 --threads ''", "'' is not a decimal integer");
  refuses("explain e4m3 1 --threads ' 1'", "' 1' is not a decimal integer");
  refuses("explain e4m3 1 --threads -1", "-1 is out of range");
  refuses("explain e4m3 1 --threads 99999999999999999999", "does not fit in 64 bits");
  refuses("explain e4m3 1 --seed -1", "--seed: found '-1'");
  refuses("explain e4m3 1 --seed 18446744073709551616", "--seed: found '18446744073709551616'");
  CHECK(run("explain e4m3 1 --seed 18446744073709551615 --threads 4096").status == 0);
}

TEST_CASE("negative numbers, -inf and nan are plain arguments") {
  CHECK(run("explain encode -448 --json").json()["code"] == "0xfe");
  CHECK(run("explain encode -.5 --json").json()["code"] == "0xb0");
  CHECK(run("explain encode -inf --json").json()["code"] == "0xfe");
  CHECK(run("explain --json encode -nan").json()["code"] == "0x7f");
  CHECK(run("explain dot '-2*3' --c -1.5 --json").json()["result"] == -7.5);
  CHECK(run("explain dot 2*-3 --c=-1.5 --json").json()["result"] == -7.5);
  CHECK(run("explain dot 1*1 --c -inf --json").json()["result"] == "-inf");
  CHECK(run("explain encode -- -448").status == 0);
}

TEST_CASE("an answer that stdout does not take is an error") {
  const Folder folder;
  const int full = open("/dev/full", O_WRONLY);
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  close(ends[0]);  // nobody reads: EPIPE
  const int closed = -1;
  for (const int descriptor : {full, ends[1], closed}) {
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"explain", "e4m3", "1"},
                                                      {"explain", "e4m3", "1", "--json"},
                                                      {"--help"},
                                                      {"gemm", "--help"},
                                                      {"--version"},
                                                      {"--help-all"}}) {
      const Ending ending = Child(arguments, descriptor, folder / "err").wait();
      CHECK(ending.exited);
      CHECK(ending.status == 2);
      CHECK_THAT(read_text(folder / "err"), contains_text("standard output"));
    }
  }
  close(full);
  close(ends[1]);
}

TEST_CASE("with stdout closed, an output file does not become stdout") {
  const Folder folder;
  CHECK(Child({"random", folder / "p.safetensors", "--m", "1", "--n", "1", "--k", "1"}, -1, folder / "err")
            .wait()
            .status == 2);
  CHECK(run("gemm " + (folder / "p.safetensors") + " -o " + (folder / "d.npy")).status == 0);
}

TEST_CASE("no command writes over its own input, by whatever name") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", link = folder / "link.safetensors";
  succeeds("random " + problem + " --m 4 --n 4 --k 128");
  std::filesystem::create_symlink(problem, link);
  const std::string before = read_text(problem);
  for (const std::string& out : {problem, link}) {
    for (const std::string& command :
         {"gemm " + problem + " -o " + out, "quantize " + problem + " " + out,
          "dequantize " + problem + " " + out, "pack " + out + " a=" + problem + ":a b=" + problem + ":b"}) {
      refuses(command, "would be lost");
      CHECK(read_text(problem) == before);
    }
  }
}

TEST_CASE("SIGINT ends a gemm with 130 and SIGTERM with 143, and no file is left") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  REQUIRE(run("random " + problem + " --m 4096 --n 4096 --k 2048").status ==
          0);  // 34 G multiply-adds: seconds at least
  for (const int signal : {SIGINT, SIGTERM}) {
    const int out = open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const Child child({"gemm", problem, "-o", folder / "d.safetensors"}, out, folder / "err");
    close(out);
    child.wait_until_it_catches(signal);
    child.send(signal);
    const Ending ending = child.wait();
    CHECK(ending.exited);
    CHECK(ending.status == 128 + signal);
    CHECK(read_text(folder / "out").empty());
    CHECK(files_in(folder) == 3);  // the problem, out and err
  }
}

TEST_CASE("a size that no memory holds is a sentence") {
  refuses("random p.safetensors --m 2000000000 --n 2000000000 --k 2000000000", "at most 2^40");
#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // their allocators stop the program instead
  // 2^40 bytes under a limit of 2^32: a machine that promises more memory than it has would let them pass.
  refuses("random p.safetensors --m 500000 --n 1 --k 2000000", "out of memory", "ulimit -v 4194304; ");
#endif
}
