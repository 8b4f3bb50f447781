// fp8twin-tune where there is no card: what its model says, and a sentence for what it cannot do.
#include "tests/catch.hpp"
#include "tests/cli/run_program.hpp"

using namespace fp8twin::test;

namespace {

/// Status 2, nothing on stdout, and one line on stderr that says `part`.
void refuses(const std::string& arguments, const std::string& part, const std::string& setup = "") {
  const Result result = run(arguments, setup);
  INFO(arguments << ": " << result.err);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, contains_text(part));
  CHECK(result.err.find('\n') + 1 == result.err.size());
}

}  // namespace

TEST_CASE("estimates: candidates in order, and why one is chosen, for every shape") {
  const Result result = run("--estimate --rows 3 --shape '64,7168,16384;4096,4096,4096' --shape 1,1,1");
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  for (const char* part :
       {"64x7168x16384 on 132 multiprocessors",
        "chosen: gemm_8_overlapped_64x64_s3_c1x1_p4_bf16: 112 clusters", "bound by what memory delivers",
        "4096x4096x4096 on", "chosen: gemm_8_overlapped_256x128_s3_c1x2_p1_bf16", "1x1x1 on"}) {
    CHECK_THAT(result.out, contains_text(part));
  }
  CHECK_THAT(run("--estimate --shape 64,64,64 --multiprocessors 7").out,
             contains_text("on 7 multiprocessors"));
}

TEST_CASE("what is wrong with the arguments is said before a card is asked for") {
  refuses("--shape 64,64", "found '64,64'");
  refuses("--shape 64,0,64", "numbers from 1 to");
  refuses("--shape 64,64,9999999999", "numbers from 1 to 2147479551");
  refuses("--shape 64,64,64 --configs nonsense", "'nonsense' names no configuration");
  refuses("--shape 64,64,64 --rounds 0", "--rounds");
  refuses("--shape 64,64,64 --finalists=-1", "--finalists");
  refuses("--shape 64,64,64 --flush-gb nan", "not a number");
  refuses("--shape 64,64,64 --threads=-5", "--threads");
  refuses("--estimate --shape 64,64,64 --multiprocessors 0", "--multiprocessors");
  refuses("--shape 64,64,64 --json /nonexistent/x", "/nonexistent/x");
  refuses("--compile-only --shape 64,64,64", "cannot be kept in '/dev/null/x'",
          "export FP8TWIN_CACHE_DIR=/dev/null/x; ");
}
