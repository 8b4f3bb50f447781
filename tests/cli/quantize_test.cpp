#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "emulator/model/problem.hpp"
#include "emulator/number/recipe.hpp"
#include "emulator/support/random.hpp"
#include "emulator/support/simd.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/cli/tensor_files.hpp"

using namespace fp8twin;
using test::FileMaker;
using test::Folder;
using test::run;
using test::values_of;

namespace {

/// BF16 values of both signs. Each run of 128 has its own largest size, and every fifth lies below 1e-4.
std::vector<float> random_values(std::int64_t count, std::uint64_t seed) {
  const Random random(seed, 0);
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t part = i / 128;
    const std::uint64_t bits = random.bits(static_cast<std::uint64_t>(i));
    const std::uint64_t significand = 128 + bits % static_cast<std::uint64_t>(1 + part * 37 % 127);
    const float size = static_cast<float>(significand) * (part % 5 == 0 ? 0x1p-25f : 0x1p-5f);
    values.push_back(bits >> 63 ? -size : size);
  }
  return values;
}

/// Row 0: amax 6.5 and x = 2.4375 at column 77. The code of x tells recipes apart.
std::string telling_file(const std::string& path) {
  std::vector<float> x(128, 0.0f);
  x[5] = -6.5f;
  x[77] = 2.4375f;
  return FileMaker().bf16("x", {1, 128}, x).write(path);
}

std::int64_t file_size(const std::string& path) {
  return std::filesystem::exists(path) ? static_cast<std::int64_t>(std::filesystem::file_size(path)) : -1;
}

}  // namespace

TEST_CASE("a file with BF16 a and b becomes a problem, a in 1x128 and b in 128x128 blocks") {
  const Folder folder;
  const std::string in = FileMaker()
                             .bf16("a", {3, 300}, random_values(900, 1))
                             .bf16("b", {140, 300}, random_values(42000, 2))
                             .write(folder / "in.safetensors");
  const auto result = run("quantize " + in + " " + (folder / "out.safetensors"));
  REQUIRE(result.err == "");
  REQUIRE(result.status == 0);
  CHECK(result.out ==
        "\"a\" BF16 [3, 300] -> F8_E4M3, \"a_scale\" F32 [3, 3]: 1x128, recipe deepgemm, scale f32\n"
        "\"b\" BF16 [140, 300] -> F8_E4M3, \"b_scale\" F32 [2, 3]: 128x128, recipe deepgemm, scale f32\n");

  const TensorFile out = read_tensor_file(folder / "out.safetensors");
  const Problem problem = read_problem(out);
  CHECK(problem.kind == Kind::dense_1d2d);
  CHECK((problem.m == 3 && problem.n == 140 && problem.k == 300));
  CHECK(out.metadata.at("quantize a") == R"({"recipe":"deepgemm","block":"1x128","scale":"f32"})");
  CHECK(out.metadata.at("quantize b") == R"({"recipe":"deepgemm","block":"128x128","scale":"f32"})");
  CHECK(out.metadata.count("program") == 1);
}

TEST_CASE("the recipe decides the code of 2.4375 under amax 6.5") {
  const Folder folder;
  const std::string in = telling_file(folder / "in.safetensors"), out = folder / "out.safetensors";
  const auto code = [&](const std::string& recipe) {
    REQUIRE(run("quantize " + in + " " + out + " --recipe " + recipe).status == 0);
    return int{values_of<std::uint8_t>(read_tensor_file(out), "x")[77]};
  };
  CHECK(code("deepgemm") == 0x72);
  CHECK(code("deepgemm-cpu") == 0x73);
  CHECK(code("deepseek") == 0x72);
  CHECK(code("vllm") == 0x72);
  CHECK(code("sglang") == 0x73);
  CHECK(code("eager") == 0x73);
  CHECK(code("te") == 0x73);
}

TEST_CASE("ue8m0 scales are F32 powers of two with the bytes 0x7f, 0x80, 0x7e, 0x79") {
  const Folder folder;
  std::vector<float> x(4 * 128, 0.25f);
  const float amax[] = {448.0f, 449.0f, 224.0f, 4.8046875f};
  for (std::size_t row = 0; row < 4; ++row) x[row * 128 + row] = amax[row];
  const std::string in = FileMaker().f32("x", {4, 128}, x).write(folder / "in.safetensors");
  REQUIRE(run("quantize " + in + " " + (folder / "out.safetensors") + " --scale ue8m0").status == 0);
  const auto scales = values_of<std::uint32_t>(read_tensor_file(folder / "out.safetensors"), "x_scale");
  CHECK(scales == std::vector<std::uint32_t>{0x7fu << 23, 0x80u << 23, 0x7eu << 23, 0x79u << 23});
}

TEST_CASE("448 columns: block 3 covers 384 to 447; experts of 64 rows share no block") {
  const Folder folder;
  std::vector<float> x(2 * 64 * 448, 1.0f);
  x[63 * 448 + 447] = 448.0f;  // expert 0, block 3
  x[64 * 448 + 0] = 896.0f;    // expert 1, block 0
  const std::string in = FileMaker().bf16("x.weight", {2, 64, 448}, x).write(folder / "in.safetensors");
  const auto result = run("quantize --json --recipe deepgemm-cpu " + in + " " + (folder / "out.safetensors"));
  REQUIRE(result.status == 0);
  CHECK(result.json()["tensors"][0]["block"] == "128x128");
  CHECK(result.json()["tensors"][0]["scale_shape"] == nlohmann::json::array({2, 1, 4}));
  const TensorFile out = read_tensor_file(folder / "out.safetensors");
  const float one = 1.0f / 448.0f;
  CHECK(values_of<float>(out, "x.weight_scale") ==
        std::vector<float>{one, one, one, 1.0f, 2.0f, one, one, one});
}

TEST_CASE("what is not a float matrix, or is a scale already, passes through unchanged") {
  const Folder folder;
  const std::vector<std::int32_t> indices{0, 0, -1};
  const std::string in = FileMaker()
                             .bf16("x", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})
                             .f32("bias", {4}, {1, 2, 3, 4})
                             .add("m_indices", DType::i32, {3}, indices)
                             .codes("w", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})
                             .f32("w_scale_inv", {2, 1}, {0.5f, 0.25f})
                             .bf16("deep", {1, 1, 2, 2}, {1, 2, 3, 4})
                             .write(folder / "in.safetensors", {{"format", "pt"}});
  REQUIRE(run("quantize " + in + " " + (folder / "out.safetensors")).status == 0);
  const TensorFile out = read_tensor_file(folder / "out.safetensors");
  CHECK(out.tensors.size() == 7);
  CHECK(out.at("x").dtype == DType::f8_e4m3);
  CHECK(values_of<float>(out, "bias") == std::vector<float>{1, 2, 3, 4});
  CHECK(values_of<std::int32_t>(out, "m_indices") == indices);
  CHECK(values_of<std::uint8_t>(out, "w") == std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(values_of<float>(out, "w_scale_inv") == std::vector<float>{0.5f, 0.25f});
  CHECK(out.at("deep").dtype == DType::bf16);
  CHECK(out.metadata.at("format") == "pt");
}

TEST_CASE("option --tensor leaves the others alone, --block overrides the name's default") {
  const Folder folder;
  const std::string in = FileMaker()
                             .bf16("b", {130, 130}, random_values(16900, 3))
                             .bf16("x", {2, 2}, {1, 2, 3, 4})
                             .write(folder / "in.safetensors");
  REQUIRE(run("quantize " + in + " " + (folder / "out.safetensors") + " --tensor b --block 1x128").status ==
          0);
  const TensorFile out = read_tensor_file(folder / "out.safetensors");
  CHECK(out.at("b_scale").shape == Shape{130, 2});
  CHECK(out.at("x").dtype == DType::bf16);
  CHECK(out.find("x_scale") == nullptr);
}

TEST_CASE("blocks start anew with each group of k_sizes") {
  const Folder folder;
  std::vector<float> a(260, 1.0f);
  a[99] = 448.0f;
  a[100] = 896.0f;
  const std::vector<std::int32_t> sizes{100, 0, 160};
  const std::string in = FileMaker()
                             .bf16("a", {1, 260}, a)
                             .add("k_sizes", DType::i32, {3}, sizes)
                             .write(folder / "in.safetensors");
  REQUIRE(run("quantize --recipe vllm " + in + " " + (folder / "out.safetensors")).status == 0);
  const TensorFile out = read_tensor_file(folder / "out.safetensors");
  CHECK(values_of<float>(out, "a_scale") == std::vector<float>{1.0f, 2.0f, 1.0f / 448.0f});

  const std::vector<std::int32_t> wrong{100, 100};
  const std::string bad = FileMaker()
                              .bf16("a", {1, 260}, a)
                              .add("k_sizes", DType::i32, {2}, wrong)
                              .write(folder / "bad.safetensors");
  const auto refused = run("quantize " + bad + " " + (folder / "none.safetensors"));
  CHECK(refused.status == 2);
  CHECK(refused.err.find("add up to the 260 columns of \"a\"; they add up to 200") != std::string::npos);
}

TEST_CASE("a .npy file's tensor is called data") {
  const Folder folder;
  const std::string in = FileMaker().f32("data", {2, 128}, random_values(256, 4)).write(folder / "x.npy");
  REQUIRE(run("quantize " + in + " " + (folder / "out.safetensors")).status == 0);
  CHECK(read_tensor_file(folder / "out.safetensors").at("data_scale").shape == Shape{2, 1});
}

TEST_CASE("option --match finds the recipe that made a file, by either name of its scales") {
  const Folder folder;
  const std::string in = FileMaker()
                             .bf16("x", {70, 1000}, random_values(70000, 5))
                             .bf16("y.weight", {260, 300}, random_values(78000, 6))
                             .write(folder / "in.safetensors");
  for (const Recipe& recipe : all_recipes()) {
    const std::string name(recipe.name), made = folder / (name + ".safetensors");
    REQUIRE(run("quantize " + in + " " + made + " --recipe " + name).status == 0);
    const auto result = run("quantize --json " + in + " --match " + made);
    REQUIRE(result.status == 0);
    const auto match = result.json()["match"];
    CHECK(match["codes"] == 148000);
    CHECK(match["scales"] == 70 * 8 + 3 * 3);
    CHECK(match["recipes"].size() == 14);
    for (const auto& row : match["recipes"]) {
      INFO(name << " against " << row);
      CHECK(row["equal"] == (row["recipe"] == name && row["scale"] == "f32"));
      CHECK(row["equal"] == (row["codes_different"] == 0 && row["scales_different"] == 0));
    }
  }
}

TEST_CASE(
    "option --match counts what differs, and takes blocks from the scales' shape, also from F8_E8M0 scales") {
  const Folder folder;
  const std::string in =
      FileMaker().bf16("x", {200, 256}, random_values(51200, 7)).write(folder / "in.safetensors");
  REQUIRE(
      run("quantize " + in + " " + (folder / "made.safetensors") + " --scale ue8m0 --block 128x128").status ==
      0);
  const TensorFile made = read_tensor_file(folder / "made.safetensors");
  auto codes = values_of<std::uint8_t>(made, "x");
  codes[1000] ^= 1;
  codes[2000] ^= 0x80;
  std::vector<std::uint8_t> exponents;
  for (const std::uint32_t bits : values_of<std::uint32_t>(made, "x_scale"))
    exponents.push_back(static_cast<std::uint8_t>(bits >> 23));
  exponents[3]++;
  const std::string changed = FileMaker()
                                  .codes("x", {200, 256}, codes)
                                  .add("x_scale_inv", DType::f8_e8m0, {2, 2}, exponents)
                                  .write(folder / "changed.safetensors");
  const auto result = run("quantize --json " + in + " --match " + changed);
  CHECK(result.status == 1);
  const auto best = result.json()["match"]["recipes"][0];
  CHECK(best["scale"] == "ue8m0");
  CHECK(best["codes_different"] == 2);
  CHECK(best["scales_different"] == 1);
  CHECK(best["equal"] == false);

  const auto text = run("quantize " + in + " --match " + changed);
  CHECK(text.status == 1);
  CHECK(text.out.find("of 51200 codes, of 4 scales") != std::string::npos);
  CHECK(text.out.find("equal") == std::string::npos);

  const auto fixed = run("quantize " + in + " --block 1x128 --match " + changed);
  CHECK(fixed.status == 2);
  CHECK(fixed.err.find("tensor \"x_scale_inv\" has shape [2, 2]; blocks of 1x128 need [200, 2]") !=
        std::string::npos);
}

TEST_CASE("every engine writes the model's codes and scales, and says who it was") {
  const Folder folder;
  std::vector<float> x = random_values(2 * 70 * 210, 8);
  x[5] = std::numeric_limits<float>::infinity();
  x[300] = std::numeric_limits<float>::quiet_NaN();
  const std::string in = FileMaker()
                             .bf16("a", {70, 210}, random_values(14700, 9))
                             .f32("w.weight", {2, 70, 210}, x)
                             .write(folder / "in.safetensors");
  const std::string model = folder / "model.safetensors", out = folder / "out.safetensors";
  for (const std::string options : {"--recipe vllm --scale ue8m0", "--recipe deepgemm", "--recipe te"}) {
    REQUIRE(run("quantize " + in + " " + model + " " + options).status == 0);
    const TensorFile needed = read_tensor_file(model);
    CHECK(needed.metadata.at("engine") == "model");
    for (const std::string engine : {"machine", "gpu"}) {
      const auto result = run("quantize --json " + in + " " + out + " " + options + " --engine " + engine);
      if (engine == "gpu" && result.status == 2) {
        CHECK(result.out.empty());
        CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
        continue;  // no card here
      }
      INFO(options << " " << engine << " " << result.err);
      REQUIRE(result.status == 0);
      CHECK(result.json()["engine"] == engine);
      CHECK(result.json()["kernels"].get<std::string>().size() == 18);
      const TensorFile found = read_tensor_file(out);
      CHECK(found.metadata.at("engine") == engine);
      CHECK(found.metadata.at("kernels") == result.json()["kernels"]);
      CHECK(found.metadata.at("device") == result.json()["device"]);
      REQUIRE(found.tensors.size() == needed.tensors.size());
      for (std::size_t i = 0; i < needed.tensors.size(); ++i) {
        CHECK(found.tensors[i].name == needed.tensors[i].name);
        CHECK(std::ranges::equal(found.tensors[i].bytes, needed.tensors[i].bytes));
      }
    }
  }
  const auto match = run("quantize --json " + in + " --match " + model + " --engine machine");
  CHECK(match.status == 0);
  CHECK(match.json()["engine"] == "machine");
}

TEST_CASE("a NaN made elsewhere matches, whatever its sign and payload") {
  const Folder folder;
  std::vector<float> x(256, 1.0f);
  x[7] = std::numeric_limits<float>::quiet_NaN();
  const std::string in = FileMaker().f32("x", {2, 128}, x).write(folder / "in.safetensors");
  std::vector<std::uint8_t> codes(256, 0x7e);
  std::fill(codes.begin(), codes.begin() + 128, std::uint8_t{0xff});
  const std::vector<std::uint32_t> scales{0xffc00000, 0x3b124925};
  const std::string made = FileMaker()
                               .codes("x", {2, 128}, codes)
                               .add("x_scale", DType::f32, {2, 1}, scales)
                               .write(folder / "made.safetensors");
  const auto result = run("quantize --json " + in + " --match " + made);
  CHECK(result.status == 0);
  CHECK(result.json()["match"]["recipes"][0]["equal"] == true);
}

TEST_CASE("refusals: one sentence, status 2, an empty stdout and no file") {
  const Folder folder;
  const std::string x = telling_file(folder / "x.safetensors"), out = folder / "out.safetensors";
  const std::string clash =
      FileMaker().bf16("x", {1, 2}, {1, 2}).f32("x_scale", {1}, {1}).write(folder / "clash.safetensors");
  const std::string codes = FileMaker().codes("w", {1, 2}, {1, 2}).write(folder / "codes.safetensors");
  const auto refused = [&](const std::string& arguments, const std::string& sentence) {
    const auto result = run("quantize " + arguments);
    INFO(arguments << ": " << result.err);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(result.err.find(sentence) != std::string::npos);
    CHECK(file_size(out) == -1);
  };
  refused(clash + " " + out, "would get its scales as \"x_scale\", a name the file holds already");
  refused(codes + " " + out, "holds no tensor to quantise");
  refused(x + " " + out + " --tensor y", "holds no tensor \"y\"");
  refused(codes + " " + out + " --tensor w",
          "tensor \"w\" is F8_E4M3 [1, 2]; quantising needs BF16, F16 or F32");
  refused(x, "OUT is missing");
  refused(x + " " + (folder / "out.npy"), "needed is a .safetensors file");
  refused(x + " " + out + " --recipe nobody", "nobody");
  refused(x + " " + out + " --block 64x64", "64x64");
  refused(x + " " + out + " --engine abacus", "--engine: found 'abacus'; model, machine or gpu is needed");
  refused(x + " " + out + " --engine machine --simd portable",
          "--simd: engine machine has no choice of instructions; needed is --engine model");
  refused(x + " --match " + codes, "holds no F8_E4M3 tensor with the name");
  refused((folder / "missing.safetensors") + " " + out, "missing.safetensors");
}

TEST_CASE("empty tensors keep their shape and get empty scales") {
  const Folder folder;
  const std::string in =
      FileMaker().bf16("a", {0, 256}, {}).bf16("b", {128, 0}, {}).write(folder / "in.safetensors");
  REQUIRE(run("quantize " + in + " " + (folder / "out.safetensors")).status == 0);
  const TensorFile out = read_tensor_file(folder / "out.safetensors");
  CHECK(out.at("a_scale").shape == Shape{0, 2});
  CHECK(out.at("b_scale").shape == Shape{1, 0});
  CHECK(run("quantize " + in + " --match " + (folder / "out.safetensors")).status == 0);
}

TEST_CASE("every path and thread count writes the same bytes; a path that is none is refused") {
  const Folder folder;
  const std::string in = FileMaker()
                             .bf16("x", {300, 433}, random_values(300 * 433, 5))
                             .bf16("weight", {130, 300}, random_values(130 * 300, 6))
                             .write(folder / "in.safetensors");
  REQUIRE(run("quantize " + in + " " + (folder / "auto.safetensors")).status == 0);
  for (const Simd simd : simd_here()) {
    for (const char* threads : {"1", "7"}) {
      const std::string out = folder / "out.safetensors", name(simd_name(simd));
      REQUIRE(run("quantize " + in + " " + out + " --simd " + name + " --threads " + threads).status == 0);
      CHECK(test::read_text(out) == test::read_text(folder / "auto.safetensors"));
      CHECK(run("quantize " + in + " --match " + out + " --simd " + name).status == 0);
    }
  }
  const auto result = run("quantize " + in + " " + (folder / "no.safetensors") + " --simd sse9");
  CHECK(result.status == 2);
  CHECK(result.out == "");
  CHECK(result.err == "fp8twin: --simd: found 'sse9'; auto, portable, avx2 or avx512 is needed\n");
  CHECK(file_size(folder / "no.safetensors") == -1);
}
