// `wgmma` on the machine and on the card: the model's bits, for the narrowest, an odd and the widest instruction, with c
// and without, and for chains longer than one launch takes.
#include <algorithm>
#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"
#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"
#include "tests/gpu/skip.hpp"

using namespace fp8twin::test;

namespace {

const std::vector<std::string> problems = {
    "--n 8 --k 32 --distribution subnormal", "--n 40 --k 96 --with-c --distribution any-c",
    "--n 256 --k 128 --with-c --distribution wide-c", "--n 256 --k 1056 --distribution uniform-nan",
    "--n 24 --k 0 --with-c"};

std::string d_of(const Folder& folder, const std::string& problem, const std::string& options) {
  const std::string out = folder / "d.npy";
  succeeds("wgmma " + problem + " -o " + out + " " + options);
  return read_text(out);
}

}  // namespace

TEST_CASE("the machine gives the model's bits") {
  const Folder folder;
  const std::string problem = folder / "w.safetensors";
  for (const std::string& options : problems) {
    INFO(options);
    succeeds("random " + problem + " --kind wgmma " + options);
    const std::string model = d_of(folder, problem, "");
    CHECK(d_of(folder, problem, "--engine machine --schedule latest") == model);
    CHECK(d_of(folder, problem, "--engine machine --schedule-seed 7") == model);
  }
}

TEST_CASE("the card gives the model's bits") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip("the driver does not run under sanitizers");
#else
  const Folder folder;
  const std::string problem = folder / "w.safetensors", out = folder / "d.npy";
  for (const std::string& options : problems) {
    INFO(options);
    succeeds("random " + problem + " --kind wgmma " + options);
    const Result result = run("wgmma " + problem + " -o " + out + " --engine gpu");
    if (result.status == 2) {
      CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
      skip(result.err);
      return;
    }
    const std::string card = read_text(out);
    CHECK(card == d_of(folder, problem, ""));
  }
#endif
}

TEST_CASE("a wgmma's file says which engine made it, and takes no kernel's options") {
  const Folder folder;
  const std::string problem = folder / "w.safetensors", out = folder / "d.safetensors";
  succeeds("random " + problem + " --kind wgmma --n 16 --k 64 --seed 4");
  succeeds("wgmma " + problem + " -o " + out + " --engine machine --schedule mixed --schedule-seed 6");
  const fp8twin::TensorFile file = fp8twin::read_tensor_file(out);
  CHECK(file.metadata.at("engine") == "machine");
  CHECK(file.metadata.at("schedule") == "mixed");
  CHECK(file.metadata.at("schedule_seed") == "6");
  CHECK(file.metadata.at("seed") == "4");
  refuses("wgmma " + problem + " -o " + out + " --engine machine --kernel 1", "no option is called --kernel");
  refuses("wgmma " + problem + " -o " + out + " --checks off", "has no schedule to choose");
}
