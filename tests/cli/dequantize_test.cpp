#include <cmath>
#include <string>
#include <vector>

#include "emulator/support/simd.hpp"
#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/cli/tensor_files.hpp"

using namespace fp8twin;
using test::FileMaker;
using test::Folder;
using test::refuses;
using test::run;
using test::succeeds;
using test::values_of;

namespace {

/// A file with `codes` under the shape, every code 0x38 (1.0), and the scales as given; what dequantize makes
/// of it.
std::vector<float> ones_by(const Folder& folder, const Shape& shape, const Shape& scale_shape,
                           const std::vector<float>& scales, const std::string& suffix = "_scale") {
  const std::vector<std::uint8_t> codes(static_cast<std::size_t>(element_count(shape)), 0x38);
  const std::string in = FileMaker()
                             .codes("w", shape, codes)
                             .f32("w" + suffix, scale_shape, scales)
                             .write(folder / "in.safetensors");
  const auto result = run("dequantize " + in + " " + (folder / "out.safetensors"));
  INFO(result.err);
  REQUIRE(result.status == 0);
  const TensorFile out = read_tensor_file(folder / "out.safetensors");
  CHECK(out.tensors.size() == 1);
  CHECK(out.at("w").shape == shape);
  return values_of<float>(out, "w");
}

}  // namespace

TEST_CASE("the scales' shape says what shares one") {
  const Folder folder;
  SECTION("1x128") {
    const auto x = ones_by(folder, {2, 130}, {2, 2}, {1, 2, 3, 4});
    CHECK((x[0] == 1 && x[127] == 1 && x[128] == 2 && x[129] == 2 && x[130] == 3 && x[259] == 4));
  }
  SECTION("128x128, a checkpoint's _scale_inv") {
    const auto x = ones_by(folder, {129, 130}, {2, 2}, {1, 2, 3, 4}, "_scale_inv");
    CHECK((x[0] == 1 && x[127 * 130 + 127] == 1 && x[127 * 130 + 128] == 2 && x[128 * 130] == 3 &&
           x[128 * 130 + 129] == 4));
  }
  SECTION("a row") {
    const auto x = ones_by(folder, {2, 300}, {2, 1}, {1, 2});
    CHECK((x[0] == 1 && x[299] == 1 && x[300] == 2 && x[599] == 2));
  }
  SECTION("the whole tensor, in three spellings") {
    CHECK(ones_by(folder, {200, 300}, {1, 1}, {5})[59999] == 5);
    CHECK(ones_by(folder, {200, 300}, {1}, {5})[59999] == 5);
    CHECK(ones_by(folder, {2, 100, 300}, {}, {5})[59999] == 5);
  }
  SECTION("experts") {
    const auto x = ones_by(folder, {2, 64, 130}, {2, 1, 2}, {1, 2, 3, 4});
    CHECK((x[0] == 1 && x[63 * 130 + 129] == 2 && x[64 * 130] == 3 && x[127 * 130 + 129] == 4));
  }
  SECTION("nothing at all") {
    CHECK(ones_by(folder, {0, 130}, {0, 2}, {}).empty());
    CHECK(ones_by(folder, {0, 130}, {1}, {1}).empty());
  }
}

TEST_CASE("a value is code times scale, rounded once; with --output bf16 once more") {
  const Folder folder;
  const std::vector<std::uint8_t> codes{0x7e, 0x01, 0xb9,
                                        0x80, 0x7f, 0xff};  // 448, 2^-9, -1.125, -0, NaN, NaN
  const float scale = 0.1f;
  const std::string in =
      FileMaker().codes("x", {1, 6}, codes).f32("x_scale", {1, 1}, {scale}).write(folder / "in.safetensors");

  REQUIRE(run("dequantize " + in + " " + (folder / "f32.safetensors")).status == 0);
  const auto wide = values_of<float>(read_tensor_file(folder / "f32.safetensors"), "x");
  const auto rounded = [&](double code) { return static_cast<float>(code * static_cast<double>(scale)); };
  CHECK((wide[0] == rounded(448) && wide[1] == rounded(0x1p-9) && wide[2] == rounded(-1.125)));
  CHECK((wide[3] == 0 && std::signbit(wide[3])));
  const auto bits = values_of<std::uint32_t>(read_tensor_file(folder / "f32.safetensors"), "x");
  CHECK((bits[4] == 0x7fffffff && bits[5] == 0x7fffffff));

  const auto result = run("dequantize --json " + in + " " + (folder / "bf16.safetensors") + " --output bf16");
  REQUIRE(result.status == 0);
  CHECK(result.json()["tensors"][0]["dtype"] == "BF16");
  const auto narrow = values_of<std::uint16_t>(read_tensor_file(folder / "bf16.safetensors"), "x");
  // 44.8 is 0x42333333, down to 0x4233; 0.1 * 2^-9 is 0x394ccccd, up to 0x394d; -0.1125 is 0xbde66666 give or
  // take one, down.
  CHECK(narrow == std::vector<std::uint16_t>{0x4233, 0x394d, 0xbde6, 0x8000, 0x7fff, 0x7fff});
}

TEST_CASE("problem files come back, with their other tensors, and a round trip by powers of two is exact") {
  const Folder folder;
  std::vector<float> a(2 * 200), b(130 * 200);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(static_cast<int>(i % 17) - 8) * 0.125f;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(static_cast<int>(i % 15) - 7) * 32.0f;
  const std::vector<std::int32_t> indices{0, -1};
  const std::string in = FileMaker()
                             .bf16("a", {2, 200}, a)
                             .bf16("b", {1, 130, 200}, b)
                             .add("m_indices", DType::i32, {2}, indices)
                             .write(folder / "in.safetensors");
  REQUIRE(run("quantize --scale ue8m0 " + in + " " + (folder / "q.safetensors")).status == 0);
  REQUIRE(run("dequantize " + (folder / "q.safetensors") + " " + (folder / "x.safetensors")).status == 0);
  const TensorFile out = read_tensor_file(folder / "x.safetensors");
  CHECK(values_of<float>(out, "a") == a);
  CHECK(values_of<float>(out, "b") == b);
  CHECK(values_of<std::int32_t>(out, "m_indices") == indices);
  CHECK(out.tensors.size() == 3);
  CHECK(out.metadata.count("quantize a") == 0);
}

TEST_CASE("groups along K: scales follow k_sizes; F8_E8M0 scales are read; a single tensor may go to .npy") {
  const Folder folder;
  const std::vector<std::uint8_t> codes(260, 0x38), exponents{127, 128, 129};
  const std::vector<std::int32_t> sizes{100, 160};
  const std::string in = FileMaker()
                             .codes("a", {1, 260}, codes)
                             .add("a_scale", DType::f8_e8m0, {1, 3}, exponents)
                             .add("k_sizes", DType::i32, {2}, sizes)
                             .write(folder / "in.safetensors");
  REQUIRE(run("dequantize " + in + " " + (folder / "out.safetensors")).status == 0);
  const auto x = values_of<float>(read_tensor_file(folder / "out.safetensors"), "a");
  CHECK((x[99] == 1 && x[100] == 2 && x[227] == 2 && x[228] == 4));

  const std::string alone = FileMaker()
                                .codes("a", {1, 2}, {0x38, 0xc0})
                                .f32("a_scale", {1, 1}, {3})
                                .write(folder / "alone.safetensors");
  REQUIRE(run("dequantize " + alone + " " + (folder / "a.npy")).status == 0);
  CHECK(values_of<float>(read_tensor_file(folder / "a.npy"), "data") == std::vector<float>{3, -6});
}

TEST_CASE("BF16 and F16 scales are widened, as pack widens them") {
  const Folder folder;
  const std::string out = folder / "out.safetensors";
  const std::vector<std::uint8_t> codes{0x38, 0xc0};  // 1, -2
  const auto by = [&](DType dtype, std::uint16_t scale) {
    REQUIRE(run("dequantize " +
                FileMaker()
                    .codes("w", {1, 2}, codes)
                    .add("w_scale", dtype, {1, 1}, std::vector<std::uint16_t>{scale})
                    .write(folder / "in.safetensors") +
                " " + out)
                .status == 0);
    return values_of<float>(read_tensor_file(out), "w");
  };
  CHECK(by(DType::bf16, 0x4040) == std::vector<float>{3, -6});
  CHECK(by(DType::f16, 0x3e00) == std::vector<float>{1.5f, -3});
}

TEST_CASE("option --tensor leaves all others as they are") {
  const Folder folder;
  const std::string in = folder / "in.safetensors", out = folder / "out.safetensors";
  succeeds("random " + in + " --m 3 --n 4 --k 130");
  succeeds("dequantize " + in + " " + out + " --tensor b");
  const TensorFile from = read_tensor_file(in), to = read_tensor_file(out);
  CHECK(to.at("b").dtype == DType::f32);
  CHECK_FALSE(to.find("b_scale"));
  CHECK(values_of<std::uint8_t>(to, "a") == values_of<std::uint8_t>(from, "a"));
  CHECK(values_of<float>(to, "a_scale") == values_of<float>(from, "a_scale"));
  refuses("dequantize " + in + " " + out + " --tensor c", "c");
  refuses("dequantize " + in + " " + out + " --tensor b_scale",
          "tensor \"b_scale\" has dtype F32 and no scale");
}

TEST_CASE("refusals: one sentence, status 2, an empty stdout and no file") {
  const Folder folder;
  const std::string out = folder / "out.safetensors";
  const auto refused = [&](const FileMaker& maker, const std::string& sentence) {
    const auto result = run("dequantize " + maker.write(folder / "in.safetensors") + " " + out);
    INFO(result.err);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(result.err.find(sentence) != std::string::npos);
    CHECK(!std::filesystem::exists(out));
  };
  const std::vector<std::uint8_t> codes(2 * 300);
  refused(FileMaker().codes("w", {2, 300}, codes),
          "holds no F8_E4M3 tensor NAME with NAME_scale or NAME_scale_inv");
  refused(FileMaker().codes("w", {2, 300}, codes).f32("w_scale", {3, 2}, {1, 2, 3, 4, 5, 6}),
          "tensor \"w_scale\" has shape [3, 2]; the scales of \"w\", shape [2, 300], need [2, 3], [1, 3], "
          "[2, 1] or [1, 1]");
  refused(FileMaker().codes("w", {2, 300}, codes).f32("w_scale", {1, 1}, {1}).f32("w_scale_inv", {1, 1}, {1}),
          "has both");
  refused(
      FileMaker().codes("w", {2, 300}, codes).add("w_scale", DType::u8, {1, 1}, std::vector<std::uint8_t>{1}),
      "tensor \"w_scale\" has dtype U8; scales of F32, BF16, F16 or F8_E8M0 are needed");
  refused(FileMaker().codes("w", {600}, codes).f32("w_scale", {1}, {1}), "two or three dimensions");
  refused(FileMaker().codes("w", {2, 2, 150}, codes).f32("w_scale", {1, 2, 2}, {1, 2, 3, 4}),
          "need [2, 2, 2]");
}

TEST_CASE("every path writes the same bytes") {
  const Folder folder;
  std::vector<std::uint8_t> codes(300 * 433);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i * 37 % 256);
  const std::string in =
      FileMaker()
          .codes("w", {300, 433}, codes)
          .f32("w_scale", {3, 4}, {1, 2, 0.3f, 4e-39f, NAN, INFINITY, 7, 8, 9e30f, 10, 11, 12})
          .write(folder / "in.safetensors");
  for (const std::string output : {"f32", "bf16"}) {
    const std::string first = folder / "first.safetensors", out = folder / "out.safetensors";
    const std::string command = " --output " + output + " --simd ";
    REQUIRE(run("dequantize " + in + " " + first + command + "portable --threads 1").status == 0);
    for (const Simd simd : simd_here()) {
      REQUIRE(run("dequantize " + in + " " + out + command + std::string(simd_name(simd))).status == 0);
      CHECK(test::read_text(out) == test::read_text(first));
    }
  }
}
