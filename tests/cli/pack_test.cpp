#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/files/tensor.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_program.hpp"

using namespace fp8twin;

namespace {

// Operands of a small problem: M 3, N 200, K 192, so that both directions of b have a partial block.
constexpr std::int64_t m = 3, n = 200, k = 192;

struct Checkpoint {
  std::vector<std::uint8_t> x, weight;
  std::vector<float> x_scale{1, 2, 3, 4, 5, 6}, weight_scale{0.5f, 1.5f, -2, 3};

  Checkpoint() {
    for (int i = 0; i < m * k; ++i) x.push_back(static_cast<std::uint8_t>(i * 7));
    for (int i = 0; i < n * k; ++i) weight.push_back(static_cast<std::uint8_t>(i * 13 + 5));
  }
  Tensor activations() const { return tensor_of<std::uint8_t>("x", DType::f8_e4m3, {m, k}, x); }
  Tensor activation_scales() const { return tensor_of<float>("x_scale", DType::f32, {m, 2}, x_scale); }
  Tensor weights() const { return tensor_of<std::uint8_t>("up.weight", DType::f8_e4m3, {n, k}, weight); }
  Tensor weight_scales(const std::string& name) const {
    return tensor_of<float>(name, DType::f32, {2, 2}, weight_scale);
  }
};

template <class T>
std::vector<T> values_of(const TensorFile& file, const std::string& name) {
  const auto values = file.at(name).as<T>();
  return {values.begin(), values.end()};
}

void check_packed(const std::string& path, const Checkpoint& from) {
  const TensorFile file = read_tensor_file(path);
  CHECK(file.tensors.size() == 4);
  CHECK(file.at("a").dtype == DType::f8_e4m3);
  CHECK(file.at("a").shape == Shape{m, k});
  CHECK(file.at("b").shape == Shape{n, k});
  CHECK(values_of<std::uint8_t>(file, "a") == from.x);
  CHECK(values_of<std::uint8_t>(file, "b") == from.weight);
  CHECK(values_of<float>(file, "a_scale") == from.x_scale);
  CHECK(values_of<float>(file, "b_scale") == from.weight_scale);
}

/// The one sentence that `pack` refuses with; nothing is written.
std::string refusal(const std::string& out, const std::string& arguments) {
  const test::Result result = test::run("pack " + out + " " + arguments);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(out));
  return result.err;
}

bool has(const std::string& text, const std::string& part) {
  UNSCOPED_INFO("in: " << text << "looked for: " << part);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("pack finds NAME_scale_inv, and NAME_scale where that is absent") {
  const test::Folder folder;
  const Checkpoint from;
  const std::string suffix = GENERATE(std::string("_scale_inv"), std::string("_scale"));
  write_tensor_file(folder / "act.safetensors", std::array{from.activations(), from.activation_scales()}, {});
  write_tensor_file(folder / "w:1.safetensors",
                    std::array{from.weights(), from.weight_scales("up.weight" + suffix)}, {});
  const test::Result result =
      test::run("pack " + (folder / "p.safetensors") + " a=" + (folder / "act.safetensors") +
                ":x b=" + (folder / "w:1.safetensors") + ":up.weight --json");
  REQUIRE(result.status == 0);
  check_packed(folder / "p.safetensors", from);
  const auto json = result.json();
  CHECK(json["output"] == folder / "p.safetensors");
  CHECK(json["kind"] == "1d2d");
  CHECK(json["m"] == m);
  CHECK(json["n"] == n);
  CHECK(json["k"] == k);
  CHECK(json["tensors"].size() == 4);
  CHECK(json["tensors"][3]["name"] == "b_scale");
  CHECK(json["tensors"][3]["file"] == folder / "w:1.safetensors");
  CHECK(json["tensors"][3]["source"] == "up.weight" + suffix);
  CHECK(read_tensor_file(folder / "p.safetensors").metadata.at("b_from") == "up.weight");
}

TEST_CASE("pack follows the index of a sharded checkpoint; codes and scales may lie in different shards") {
  const test::Folder folder;
  const Checkpoint from;
  write_tensor_file(folder / "1.safetensors", std::array{from.weights(), from.activations()}, {});
  write_tensor_file(folder / "2.safetensors",
                    std::array{from.weight_scales("up.weight_scale_inv"), from.activation_scales()}, {});
  test::write_text(
      folder / "m.safetensors.index.json",
      R"({"weight_map":{"up.weight":"1.safetensors","x":"1.safetensors","x_scale":"2.safetensors",)"
      R"("up.weight_scale_inv":"2.safetensors"}})");
  const std::string index = folder / "m.safetensors.index.json";
  const test::Result result =
      test::run("pack " + (folder / "p.safetensors") + " a=" + index + ":x b=" + index + ":up.weight");
  REQUIRE(result.status == 0);
  CHECK(has(result.out, "a 1d2d problem, M 3, N 200, K 192"));
  check_packed(folder / "p.safetensors", from);
  CHECK(has(refusal(folder / "q.safetensors", "a=" + index + ":x b=" + index + ":down.weight"),
            index + ": holds no tensor \"down.weight\"; it holds \"up.weight\""));
}

TEST_CASE("pack takes scales by name, from npy files as well, and c") {
  const test::Folder folder;
  const Checkpoint from;
  const std::vector<float> row_scale(static_cast<std::size_t>(n * 2), 0.25f),
      c(static_cast<std::size_t>(m * n), 9.0f);
  const auto npy = [&](const std::string& name, const Tensor& tensor) {
    write_tensor_file(folder / name, std::span(&tensor, 1), {});
    return (folder / name) + ":data";
  };
  const std::string sources =
      " a=" + npy("x.npy", from.activations()) + " b=" + npy("w.npy", from.weights()) +
      " a_scale=" + npy("xs.npy", from.activation_scales()) +
      " b_scale=" + npy("ws.npy", tensor_of<float>("s", DType::f32, {n, 2}, row_scale)) +
      " c=" + npy("c.npy", tensor_of<float>("c", DType::f32, {m, n}, c));
  const test::Result result = test::run("pack --json " + (folder / "p.safetensors") + sources);
  REQUIRE(result.status == 0);
  CHECK(result.json()["kind"] == "1d1d");
  const TensorFile file = read_tensor_file(folder / "p.safetensors");
  CHECK(file.at("a").dtype == DType::f8_e4m3);
  CHECK(values_of<std::uint8_t>(file, "b") == from.weight);
  CHECK(values_of<float>(file, "b_scale") == row_scale);
  CHECK(values_of<float>(file, "c") == c);
}

TEST_CASE("pack widens BF16, F16 and E8M0 scales to the same values in F32") {
  const test::Folder folder;
  const Checkpoint from;
  const std::array<std::uint16_t, 4> bf16{0x3f80, 0x3dcd, 0x0001, 0xc000},
      f16{0x3c00, 0x2e66, 0x0001, 0xc000};
  const std::array<std::uint8_t, 4> e8m0{127, 0, 254, 120};
  struct Row {
    Tensor scales;
    std::vector<float> values;
  };
  for (const Row& row : {Row{tensor_of<std::uint16_t>("up.weight_scale_inv", DType::bf16, {2, 2}, bf16),
                             {1, 0x1.9ap-4f, 0x1p-133f, -2}},
                         Row{tensor_of<std::uint16_t>("up.weight_scale_inv", DType::f16, {2, 2}, f16),
                             {1, 0x1.998p-4f, 0x1p-24f, -2}},
                         Row{tensor_of<std::uint8_t>("up.weight_scale_inv", DType::f8_e8m0, {2, 2}, e8m0),
                             {1, 0x1p-127f, 0x1p127f, 0x1p-7f}}}) {
    const std::string file = folder / "w.safetensors";
    write_tensor_file(
        file, std::array{from.weights(), row.scales, from.activations(), from.activation_scales()}, {});
    REQUIRE(test::run("pack " + (folder / "p.safetensors") + " a=" + file + ":x b=" + file + ":up.weight")
                .status == 0);
    const TensorFile packed = read_tensor_file(folder / "p.safetensors");
    CHECK(packed.at("b_scale").dtype == DType::f32);
    CHECK(values_of<float>(packed, "b_scale") == row.values);
  }
}

TEST_CASE(
    "pack makes a wgmma of two operands without scales, and takes a problem file apart and together again") {
  const test::Folder folder;
  const std::vector<std::uint8_t> codes(64 * 32, 0x38);
  const std::span<const std::uint8_t> all = codes;
  write_tensor_file(folder / "w.safetensors",
                    std::array{tensor_of("a", DType::f8_e4m3, {64, 32}, all),
                               tensor_of("b", DType::f8_e4m3, {8, 32}, all.first(256))},
                    {});
  const std::string file = folder / "w.safetensors", out = folder / "out.safetensors";
  const test::Result result = test::run("pack --json " + out + " a=" + file + ":a b=" + file + ":b");
  REQUIRE(result.status == 0);
  CHECK(result.json()["kind"] == "wgmma");
  CHECK(values_of<std::uint8_t>(read_tensor_file(out), "a") == codes);
}

TEST_CASE("pack refuses what makes no problem, with a sentence that says where it came from") {
  const test::Folder folder;
  const Checkpoint from;
  const std::string out = folder / "p.safetensors", file = folder / "w.safetensors";
  const std::vector<float> ones(static_cast<std::size_t>(n), 1.0f);
  const std::vector<std::uint16_t> halves(static_cast<std::size_t>(n * k));
  const std::span<const float> scale = ones;
  Tensor channel = from.weights(), whole = from.weights(), bare = from.weights();
  channel.name = "channel.weight";
  whole.name = "whole.weight";
  bare.name = "bare.weight";
  write_tensor_file(file,
                    std::array{from.activations(), from.activation_scales(), from.weights(),
                               from.weight_scales("up.weight_scale_inv"), channel,
                               tensor_of("channel.weight_scale", DType::f32, {n, 1}, scale), whole,
                               tensor_of("whole.weight_scale", DType::f32, {1}, scale.first(1)), bare,
                               tensor_of<std::uint16_t>("half.weight", DType::bf16, {n, k}, halves)},
                    {});
  const std::string a = "a=" + file + ":x ", b = "b=" + file + ":";

  CHECK(has(refusal(out, a + b + "channel.weight"), "has shape [200, 1]; needed is [2, 2]"));
  CHECK(has(refusal(out, a + b + "channel.weight"), "b_scale=" + file + ":channel.weight_scale"));
  CHECK(has(refusal(out, a + b + "whole.weight"),
            file + ": tensor \"whole.weight_scale\" has shape [1], which is not a scale for each block of "
                   "\"whole.weight\", "
                   "[200, 192]; scales for blocks of 1x128 or 128x128 are needed"));
  CHECK(has(refusal(out, a + b + "bare.weight"), file +
                                                     ": has no scales for \"bare.weight\": neither "
                                                     "bare.weight_scale_inv nor bare.weight_scale is there; "
                                                     "b_scale=FILE:NAME is needed"));
  CHECK(has(refusal(out, a + b + "half.weight"),
            file + ": tensor \"half.weight\" has dtype BF16; F8_E4M3 is needed (fp8twin quantize makes it)"));
  CHECK(has(refusal(out, a + b + "absent"), file + ": holds no tensor \"absent\"; it holds "));
  CHECK(has(refusal(out, a + b + "up.weight a_scale=" + file + ":x"),
            "has dtype F8_E4M3; scales of F32, BF16, F16 or F8_E8M0"));
  CHECK(has(refusal(out, a + "b=" + (folder / "absent.safetensors") + ":w"),
            (folder / "absent.safetensors") + ": cannot be read: No such file or directory"));
  CHECK(has(refusal(folder / "no/p.safetensors", a + b + "up.weight"), "its folder " + (folder / "no")));
}

TEST_CASE("pack refuses arguments that are no sources") {
  const test::Folder folder;
  const std::string out = folder / "p.safetensors";
  CHECK(has(refusal(out, "a=x:y"), "pack: b= is missing; b=FILE:NAME is needed"));
  CHECK(has(refusal(out, "b=x:y"), "pack: a= is missing; a=FILE:NAME is needed"));
  CHECK(has(refusal(out, "a=x:y b=x:y a=z:y"), "pack: a= is given twice; once is needed"));
  CHECK(
      has(refusal(out, "d=x:y"), "pack: a problem has no tensor \"d\"; it has a, b, a_scale, b_scale, c, "));
  for (const std::string text : {"a", "a=x", "a=:y", "a=x:", "x:y", "''"}) {
    CHECK(has(refusal(out, text), "is not KEY=FILE:NAME, as in b=model.safetensors:layer.weight"));
  }
}
