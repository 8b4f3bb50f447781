#include <array>

#include "emulator/files/tensor.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_program.hpp"

using namespace fp8twin;

namespace {

constexpr std::array<std::uint8_t, 8> codes{0x00, 0x80, 0x7e, 0xfe, 0x7f, 0x01, 0x38, 0xb8};
constexpr std::array<float, 4> scales{0.25f, 2.0f, 1.0f, 8.0f};

std::string write_file(const test::Folder& folder) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::array<float, 3> mixed{-inf, 1e-40f, -3.0f};
  write_tensor_file(folder / "x.safetensors",
                    std::array{tensor_of<std::uint8_t>("codes", DType::f8_e4m3, {2, 4}, codes),
                               tensor_of<float>("scales", DType::f32, {4}, scales),
                               tensor_of<float>("mixed", DType::f32, {3, 1}, mixed),
                               Tensor{"empty", DType::bf16, {0, 4}, {}}},
                    {{"seed", "7"}, {"note", "line\nbreak"}});
  return folder / "x.safetensors";
}

}  // namespace

TEST_CASE("inspect --json: every tensor with its range and counts, metadata, and why it is no problem") {
  const test::Folder folder;
  const std::string path = write_file(folder);
  const test::Result result = test::run("inspect " + path + " --json");
  REQUIRE(result.status == 0);
  CHECK(result.err.empty());
  const auto json = result.json();
  CHECK(json["file"] == path);
  CHECK(json["bytes"] == 8 + 16 + 12);
  CHECK(json["metadata"] == nlohmann::json{{"seed", "7"}, {"note", "line\nbreak"}});
  CHECK(json["problem"].is_null());
  CHECK(json["no_problem"].get<std::string>().find(path + ": holds no tensor \"a\"") == 0);
  const std::map<std::string, nlohmann::json> wanted{{"codes",
                                                      {{"dtype", "F8_E4M3"},
                                                       {"shape", {2, 4}},
                                                       {"elements", 8},
                                                       {"bytes", 8},
                                                       {"min", -448},
                                                       {"max", 448},
                                                       {"nan", 1},
                                                       {"inf", 0},
                                                       {"zero", 2},
                                                       {"subnormal", 1},
                                                       {"negative", 2},
                                                       {"powers_of_two", false}}},
                                                     {"scales",
                                                      {{"dtype", "F32"},
                                                       {"shape", {4}},
                                                       {"elements", 4},
                                                       {"bytes", 16},
                                                       {"min", 0.25},
                                                       {"max", 8},
                                                       {"nan", 0},
                                                       {"inf", 0},
                                                       {"zero", 0},
                                                       {"subnormal", 0},
                                                       {"negative", 0},
                                                       {"powers_of_two", true}}},
                                                     {"mixed",
                                                      {{"dtype", "F32"},
                                                       {"shape", {3, 1}},
                                                       {"elements", 3},
                                                       {"bytes", 12},
                                                       {"min", -3},
                                                       {"max", double{1e-40f}},
                                                       {"nan", 0},
                                                       {"inf", 1},
                                                       {"zero", 0},
                                                       {"subnormal", 1},
                                                       {"negative", 1},
                                                       {"powers_of_two", false}}},
                                                     {"empty",
                                                      {{"dtype", "BF16"},
                                                       {"shape", {0, 4}},
                                                       {"elements", 0},
                                                       {"bytes", 0},
                                                       {"min", nullptr},
                                                       {"max", nullptr},
                                                       {"nan", 0},
                                                       {"inf", 0},
                                                       {"zero", 0},
                                                       {"subnormal", 0},
                                                       {"negative", 0},
                                                       {"powers_of_two", false}}}};
  REQUIRE(json["tensors"].size() == wanted.size());
  for (nlohmann::json tensor : json["tensors"]) {
    const std::string name = tensor["name"];
    tensor.erase("name");
    CHECK(tensor == wanted.at(name));
  }
}

TEST_CASE("inspect without --json: a table, metadata on one line each, the verdict") {
  const test::Folder folder;
  const test::Result result = test::run("inspect " + write_file(folder));
  REQUIRE(result.status == 0);
  CHECK(result.out.find(": 4 tensors, 36 bytes\n") != std::string::npos);
  CHECK(result.out.find("  codes   F8_E4M3  [2, 4]  -448") != std::string::npos);
  CHECK(result.out.find("all 2^e\n") != std::string::npos);
  CHECK(result.out.find("metadata note: \"line\\nbreak\"\n") != std::string::npos);
  CHECK(result.out.find("metadata seed: 7\n") != std::string::npos);
  CHECK(result.out.find("\nno problem file: ") != std::string::npos);
}

TEST_CASE("inspect names the kind and the size of a problem") {
  const test::Folder folder;
  const std::array<std::uint8_t, 512> ones{};
  const std::array<float, 4> scale{1, 1, 1, 1};
  const auto problem_of = [&](const std::vector<Tensor>& tensors) {
    write_tensor_file(folder / "p.safetensors", tensors, {});
    return test::run("inspect --json " + (folder / "p.safetensors")).json();
  };
  const std::span<const std::uint8_t> all = ones;
  const std::span<const float> s = scale;
  const auto dense = problem_of({tensor_of("a", DType::f8_e4m3, {2, 192}, all.first(384)),
                                 tensor_of("b", DType::f8_e4m3, {1, 192}, all.first(192)),
                                 tensor_of("a_scale", DType::f32, {2, 2}, s),
                                 tensor_of("b_scale", DType::f32, {1, 2}, s.first(2))});
  CHECK(dense["no_problem"].is_null());
  CHECK(dense["problem"] == nlohmann::json{{"kind", "1d2d"}, {"m", 2}, {"n", 1}, {"k", 192}, {"groups", 1}});
  const auto empty = problem_of(
      {tensor_of("a", DType::f8_e4m3, {0, 128}, all.first(0)), tensor_of("b", DType::f8_e4m3, {4, 128}, all),
       tensor_of("a_scale", DType::f32, {0, 1}, s.first(0)), tensor_of("b_scale", DType::f32, {4, 1}, s)});
  CHECK(empty["problem"] == nlohmann::json{{"kind", "1d1d"}, {"m", 0}, {"n", 4}, {"k", 128}, {"groups", 1}});
  const auto wrong =
      problem_of({tensor_of("a", DType::f8_e4m3, {2, 128}, all.first(256)),
                  tensor_of("b", DType::f8_e4m3, {4, 128}, all), tensor_of("a_scale", DType::f32, {2, 2}, s),
                  tensor_of("b_scale", DType::f32, {4, 1}, s)});
  CHECK(wrong["problem"].is_null());
  CHECK(wrong["no_problem"].get<std::string>().find("[2, 2]") != std::string::npos);
}

TEST_CASE("inspect reads npy") {
  const test::Folder folder;
  const Tensor tensor = tensor_of<std::uint8_t>("x", DType::f8_e4m3, {8}, codes);
  write_tensor_file(folder / "x.npy", std::span(&tensor, 1), {});
  const auto json = test::run("inspect --json " + (folder / "x.npy")).json();
  CHECK(json["tensors"][0]["name"] == "data");
  CHECK(json["tensors"][0]["dtype"] == "U8");
  CHECK(json["tensors"][0]["max"] == 254);
}

TEST_CASE("inspect: a file that cannot be read is status 2, one sentence, an empty stdout") {
  const test::Folder folder;
  test::write_text(folder / "broken.safetensors", "no such thing");
  for (const std::string name : {"absent.safetensors", "broken.safetensors", "absent.npy"}) {
    for (const std::string option : {"", " --json"}) {
      const test::Result result = test::run("inspect " + (folder / name) + option);
      CHECK(result.status == 2);
      CHECK(result.out.empty());
      CHECK(result.err.find(folder / name) != std::string::npos);
      CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    }
  }
}
