// `gemm` on the machine and on the card: the model's bits for every step of the ladder, what is chosen and listed, what
// the files say of how they were made, and a sentence for each option that does not fit.
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"
#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"
#include "tests/gpu/skip.hpp"

using namespace fp8twin::test;

namespace {

std::vector<std::byte> d_of(const std::string& path) {
  const fp8twin::TensorFile file = fp8twin::read_tensor_file(path);
  const auto bytes = file.at("d").bytes;
  return {bytes.begin(), bytes.end()};
}

std::string make_problem(const Folder& folder, const std::string& options) {
  const std::string path = folder / "p.safetensors";
  succeeds("random " + path + " " + options);
  return path;
}

std::vector<std::byte> run_engine(const Folder& folder, const std::string& problem,
                                  const std::string& options) {
  const std::string out = folder / "d.safetensors";
  succeeds("gemm " + problem + " -o " + out + " " + options);
  return d_of(out);
}

}  // namespace

TEST_CASE("the machine gives the model's bits, for every step of the ladder") {
  const Folder folder;
  const std::string tails = make_problem(folder, "--m 70 --n 72 --k 400 --distribution adversarial");
  const char* const orders[] = {"--schedule latest", "--schedule earliest",
                                "--schedule mixed --schedule-seed 5", "--schedule-seed 9 --checks off"};
  for (const std::string output : {"bf16", "f32"}) {
    const auto model = run_engine(folder, tails, "--output " + output);
    for (int step = 1; step <= 9; ++step) {
#if defined(__SANITIZE_THREAD__)  // the threads are the same in every step
      if (step != 1 && step != 4 && step != 8) continue;
#endif
      const std::string options = "--engine machine --multiprocessors 2 --kernel " + std::to_string(step) +
                                  " --output " + output + " " + orders[(step + (output == "f32")) % 4];
      INFO(options);
      CHECK(run_engine(folder, tails, options) == model);
    }
  }
}

TEST_CASE("a configuration of one's own, by name of the step") {
  const Folder folder;
  const std::string problem = make_problem(folder, "--m 130 --n 80 --k 272");
  const auto model = run_engine(folder, problem, "");
  CHECK(run_engine(folder, problem,
                   "--engine machine --kernel gemm_6_multicast --tile 64x16 --stages 3 --cluster 2x1") ==
        model);
  const fp8twin::TensorFile file = fp8twin::read_tensor_file(folder / "d.safetensors");
  CHECK(file.metadata.at("engine") == "machine");
  CHECK(file.metadata.at("kernel") == "gemm_6_multicast");
  CHECK(file.metadata.at("tile") == "64x16");
  CHECK(file.metadata.at("stages") == "3");
  CHECK(file.metadata.at("cluster") == "2x1");
  CHECK(file.metadata.at("schedule") == "random");
  CHECK(file.metadata.at("schedule_seed") == "1");
  CHECK(file.metadata.at("device") == "cpu");
  CHECK(file.metadata.at("kernels").size() == 18);
}

TEST_CASE("grouped problems, 1D1D and c: the model's bits, what is said of the kernel, and a group's trace") {
  const Folder folder;
  const char* const problems[] = {
      "--kind contiguous --groups 200,0,56,192 --n 24 --k 144 --padding nan",
      "--kind contiguous --groups 3,5 --group-ends --n 24 --k 144 --b-block 1x128",
      "--kind masked --groups 3,0,64 --max-m 70 --n 24 --k 144 --padding nan",
      "--kind batched --groups 2 --m 7 --n 9 --k 144",
      "--kind k-grouped --groups 200,0,56 --m 70 --n 24 --with-c",
      "--kind 1d1d --m 70 --n 24 --k 144 --with-c"};
  for (const char* options : problems) {
    INFO(options);
    const std::string problem = make_problem(folder, options);
    for (const std::string output : {"bf16", "f32"}) {
      const auto model = run_engine(folder, problem, "--output " + output);
      CHECK(run_engine(folder, problem, "--engine machine --output " + output) == model);
      CHECK(run_engine(folder, problem,
                       "--engine machine --kernel 9 --multiprocessors 3 --output " + output) == model);
    }
  }
  const std::string problem = make_problem(folder, problems[2]), trace = folder / "t.safetensors";
  const std::string command = "gemm " + problem + " -o " + (folder / "d.safetensors") +
                              " --engine machine --kernel 8 --tile 64x16 --trace " + trace + " --trace-tile ";
  CHECK_THAT(succeeds(command + "2,0,1"), contains_text("a trace of tile 0,1 of group 2"));
  const fp8twin::TensorFile file = fp8twin::read_tensor_file(trace);
  CHECK(file.metadata.at("grouping") == "masked");
  CHECK(file.metadata.at("trace_group") == "2");
  CHECK(file.metadata.at("trace_tile") == "0,1");
  CHECK(file.metadata.at("m") == "64");
  const auto output = file.at("output").as<std::uint16_t>();
  const fp8twin::TensorFile result = fp8twin::read_tensor_file(folder / "d.safetensors");
  const auto d = result.at("d").as<std::uint16_t>();
  for (std::size_t row = 0; row < 64; ++row) CHECK(output[16 * row] == d[(2 * 70 + row) * 24 + 16]);
  refuses(command + "3,0,0", "--trace-tile: there is no group 3; the problem has 3");
  refuses(command + "1,0,0",
          "--trace-tile: there is no tile 0,0; needed is a tile of D, counted from 0: D is 0 x 24");
  refuses(command + "2,1,0", "there is no tile 1,0");
  refuses(command + "0", "two integers such as 0,1 are needed, or three, such as 2,0,1: in group 2");
}

TEST_CASE("nothing to add, nothing to multiply") {
  const Folder folder;
  for (const char* extents : {"--m 0 --n 8 --k 128", "--m 4 --n 0 --k 128", "--m 5 --n 24 --k 0"}) {
    const std::string problem = make_problem(folder, extents);
    INFO(extents);
    const auto d = run_engine(folder, problem, "--engine machine --output f32");
    CHECK(d == run_engine(folder, problem, "--output f32"));
    for (const std::byte byte : d) CHECK(byte == std::byte{0});
  }
}

TEST_CASE("the JSON answer of the machine") {
  const Folder folder;
  const std::string problem = make_problem(folder, "--m 64 --n 64 --k 128");
  const nlohmann::json json =
      answer("gemm " + problem + " -o " + (folder / "d.npy") +
             " --engine machine --kernel 2 --tile 64x64 --schedule latest --schedule-seed 3");
  CHECK(json["engine"] == "machine");
  CHECK(json["kernel"] == "gemm_2_tma");
  CHECK(json["tile"] == "64x64");
  CHECK(json["cluster"] == "1x1");
  CHECK(json["schedule"] == "latest");
  CHECK(json["schedule_seed"] == "3");
  CHECK(json["checks"] == "on");
  CHECK(json["bank_notes"].is_array());
}

TEST_CASE("what is not said is chosen for the shape; a tile without a kernel is one of step 8") {
  const Folder folder;
  const std::string problem = make_problem(folder, "--m 8 --n 72 --k 300 --distribution adversarial"),
                    out = folder / "chosen.safetensors";
  const auto model = run_engine(folder, problem, "");
  const std::string command = "gemm " + problem + " -o " + out + " --engine machine";
  const nlohmann::json chosen = answer(command);
  CHECK((chosen["kernel"] == "gemm_8_overlapped" || chosen["kernel"] == "gemm_9_swapped"));
  CHECK(fp8twin::read_tensor_file(out).metadata.at("in_flight") == chosen["in_flight"]);
  CHECK(run_engine(folder, problem, "--engine machine") == model);

  const nlohmann::json tile = answer(command + " --tile 64x24 --in-flight 4");
  CHECK(tile["kernel"] == "gemm_8_overlapped");
  CHECK(tile["tile"] == "64x24");
  CHECK(tile["in_flight"] == "4");
  CHECK(run_engine(folder, problem, "--engine machine --tile 64x24 --in-flight 4") == model);
  CHECK(answer(command + " --tile 64x24")["in_flight"] == "1");
  CHECK(answer(command + " --cluster 1x2")["cluster"] == "1x2");
  const nlohmann::json swapped = answer(command + " --kernel 9 --tile 64x8 --in-flight 2");
  CHECK(swapped["kernel"] == "gemm_9_swapped");
  CHECK(swapped["in_flight"] == "2");
  CHECK(run_engine(folder, problem, "--engine machine --kernel 9 --tile 64x8 --in-flight 2") == model);
  CHECK(answer(command + " --multiprocessors 1")["cluster"] == "1x1");
}

TEST_CASE("the help says which clusters there are, and what else decides the choice") {
  std::istringstream words(succeeds("gemm --help"));
  std::string help;  // on one line
  for (std::string word; words >> word;) help += word + " ";
  CHECK_THAT(help, contains_text("steps 8 and 9 take 2x2, 4x1 and 1x4"));
  CHECK_THAT(help, contains_text("also changes which configuration is chosen"));
  CHECK_THAT(help, contains_text("which tile of D, counted along M and along N"));

  const Folder folder;
  const std::string problem = make_problem(folder, "--m 256 --n 1024 --k 128");
  const std::string command =
      "gemm " + problem + " -o " + (folder / "d.npy") + " --engine machine --checks off";
  CHECK(answer(command)["tile"] != answer(command + " --multiprocessors 1")["tile"]);
}

TEST_CASE("what is offered, of all steps and of one") {
  std::set<int> steps;
  std::set<std::string> forms, different;
  const nlohmann::json all = answer("gemm --list-configs");
  for (const auto& config : all["configs"]) {
    steps.insert(config["step"].get<int>());
    CHECK(config["shared_bytes"].get<int>() <= 227 * 1024);
    CHECK(config["in_flight"].get<int>() >= 1);
    if (config["step"] < 8) CHECK(config["in_flight"] == 1);
    if (config["step"] < 8) CHECK(config["form"] == "-");
    forms.insert(config["form"].get<std::string>());
    different.insert(config.dump());
  }
  CHECK(forms == std::set<std::string>{"-", "c", "1d1d", "1d1d, c", "batched", "batched, 1d1d", "contiguous",
                                       "contiguous, 1d1d", "masked", "masked, 1d1d", "along_k", "along_k, c",
                                       "along_k, 1d1d", "along_k, 1d1d, c"});
  CHECK(different.size() == all["configs"].size());
  CHECK(steps == std::set<int>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  const nlohmann::json one = answer("gemm --list-configs --kernel gemm_3_stages");
  REQUIRE_FALSE(one["configs"].empty());
  for (const auto& config : one["configs"]) CHECK(config["kernel"] == "gemm_3_stages");
  const std::string table = succeeds("gemm --list-configs --kernel 3");
  CHECK_THAT(table, contains_text("gemm_3_stages"));
  CHECK(std::count(table.begin(), table.end(), '\n') ==
        static_cast<std::ptrdiff_t>(one["configs"].size() + 1));
}

TEST_CASE("PTX, where there is NVRTC") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip("NVRTC does not run under sanitizers");
#else
  const Folder folder;
  const std::string command = "gemm --kernel 1 --tile 64x8 --dump-ptx";
  const Result result = run(command);
  if (result.status == 2) {
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(result.out.empty());
    skip(result.err);
    return;
  }
  CHECK_THAT(result.out, contains_text(".target sm_90a"));
  CHECK_THAT(result.out, contains_text("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3"));
  const std::string file = folder / "kernel.ptx";
  succeeds(command + "=" + file);
  CHECK(read_text(file) == result.out);
  CHECK(answer(command)["ptx"] == result.out);
#endif
}

TEST_CASE("the card gives the model's bits, for every step of the ladder") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip("the driver does not run under sanitizers");
#else
  const Folder folder;
  const std::string problem = make_problem(folder, "--m 200 --n 136 --k 656 --distribution adversarial"),
                    out = folder / "g.safetensors";
  const Result first = run("gemm " + problem + " -o " + out + " --engine gpu");
  if (first.status == 2) {
    CHECK(std::count(first.err.begin(), first.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(out));
    skip(first.err);
    return;
  }
  const auto model = run_engine(folder, problem, "");
  for (int step = 1; step <= 9; ++step) {
    CHECK(run_engine(folder, problem, "--engine gpu --kernel " + std::to_string(step)) == model);
  }
  CHECK(fp8twin::read_tensor_file(out).metadata.at("engine") == "gpu");
  CHECK(fp8twin::read_tensor_file(out).metadata.at("device") != "cpu");
#endif
}

TEST_CASE("options and problems that do not fit are a sentence") {
  const Folder folder;
  const std::string problem = make_problem(folder, "--m 64 --n 64 --k 128"), out = folder / "d.safetensors",
                    command = "gemm " + problem + " -o " + out, machine = command + " --engine machine";
  refuses(command + " --kernel 1", "engine model runs no kernel");
  refuses(command + " --schedule latest", "engine model has no schedule");
  refuses(command + " --trace t", "--trace: engine model has no steps");
  refuses(machine + " --trace-tile 0,0", "needed is --trace FILE");
  refuses(machine + " --promote none", "needed is --engine model");
  refuses(machine + " --fraction-bits 14", "needed is --engine model");
  refuses(command + " --in-flight 2", "engine model runs no kernel");
  refuses(machine + " --kernel 10", "'10' is no kernel");
  refuses(machine + " --kernel gemm", "'gemm' is no kernel");
  refuses(machine + " --tile 64", "--tile: found \"64\"");
  refuses(machine + " --tile 64x100", "tiles of 100 columns are not accepted");
  refuses(machine + " --kernel 1 --stages 2", "found 2");
  refuses(machine + " --stages 0", "0 is out of range");
  refuses(machine + " --kernel 7 --in-flight 2", "2 K blocks in flight with tiles of");
  refuses(machine + " --tile 64x16 --in-flight 3", "accepted are 1, 2, 4, 8");
  refuses(machine + " --in-flight 0", "0 is out of range");
  refuses(machine + " --kernel 7 --cluster 4x1", "clusters of 4x1 are not accepted");
  refuses(machine + " --schedule soon", "--schedule: 'soon' is no schedule");
  refuses(machine + " --schedule-seed -1", "--schedule-seed");
  refuses(machine + " --checks maybe", "--checks: found \"maybe\"");
  refuses(machine + " --multiprocessors 0", "0 is out of range");
  refuses(machine + " --trace " + (folder / "t.safetensors") + " --trace-tile 1", "--trace-tile: found '1'");
  refuses(machine + " --trace " + (folder / "t.safetensors") + " --trace-tile 1,0", "needed is a tile of D");
  refuses(machine + " --trace " + out, "two are needed");
  refuses("gemm --list-configs --kernel 0", "'0' is no kernel");
  CHECK_FALSE(std::filesystem::exists(out));

  const std::string batched = make_problem(folder, "--kind batched --groups 2 --m 4 --n 8 --k 16");
  refuses("gemm " + batched + " -o " + out + " --engine machine --kernel 4",
          "accepted from step 8 on are groups");
  refuses("gemm " + batched + " -o " + out + " --engine machine --trace " + (folder / "t.safetensors") +
              " --trace-tile 2,0,0",
          "there is no group 2; the problem has 2");
  const std::string wgmma = make_problem(folder, "--kind wgmma --n 8 --k 32");
  refuses("gemm " + wgmma + " -o " + out + " --engine machine", "needed is fp8twin wgmma");
}
