// `gemm`: results whose values follow from the formula by hand, every kind end to end, options, memory.
#include <fcntl.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <vector>

#include "emulator/files/tensor.hpp"
#include "emulator/support/simd.hpp"
#include "tests/catch.hpp"
#include "tests/cli/child.hpp"
#include "tests/cli/expect.hpp"

using namespace fp8twin::test;
using fp8twin::DType;
using fp8twin::Shape;
using fp8twin::Tensor;
using fp8twin::TensorFile;

namespace {

constexpr std::uint8_t one = 0x38;  // E4M3

/// A problem of ones, so that d[m][n] is the sum over K blocks of length * a_scale * b_scale.
void write_ones(const std::string& path, std::int64_t m, std::int64_t n, std::int64_t k,
                const std::vector<float>& a_scale, const std::vector<float>& b_scale) {
  const std::int64_t k_blocks = (k + 127) / 128, n_blocks = (n + 127) / 128;
  const std::vector<std::uint8_t> a(static_cast<std::size_t>(m * k), one),
      b(static_cast<std::size_t>(n * k), one);
  const std::array<Tensor, 4> tensors{
      fp8twin::tensor_of<std::uint8_t>("a", DType::f8_e4m3, {m, k}, a),
      fp8twin::tensor_of<std::uint8_t>("b", DType::f8_e4m3, {n, k}, b),
      fp8twin::tensor_of<float>("a_scale", DType::f32, {m, k_blocks}, a_scale),
      fp8twin::tensor_of<float>("b_scale", DType::f32, {n_blocks, k_blocks}, b_scale)};
  fp8twin::write_tensor_file(path, tensors, {});
}

std::vector<float> values_of(const Tensor& d) {
  std::vector<float> values;
  if (d.dtype == DType::f32) {
    for (const float x : d.as<float>()) values.push_back(x);
  } else {
    for (const std::uint16_t code : d.as<std::uint16_t>())
      values.push_back(std::bit_cast<float>(std::uint32_t{code} << 16));
  }
  return values;
}

/// d of `gemm problem options`.
struct Product {
  TensorFile file;
  const Tensor& d;
  std::vector<float> values;

  Product(const Folder& folder, const std::string& problem, const std::string& options = "")
      : file(computed(folder, problem, options)), d(file.at("d")), values(values_of(d)) {}

 private:
  static TensorFile computed(const Folder& folder, const std::string& problem, const std::string& options) {
    const std::string out = folder / "product.safetensors";
    succeeds("gemm " + problem + " -o " + out + " " + options);
    return fp8twin::read_tensor_file(out);
  }
};

}  // namespace

TEST_CASE("K = 192: the partial block has its own scale") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  write_ones(problem, 1, 1, 192, {1, 3}, {1, 5});
  const Product product(folder, problem);
  CHECK(product.d.dtype == DType::bf16);
  CHECK(product.values == std::vector<float>{128 * 1 + 64 * 15});
}

TEST_CASE("N = 448: columns 384 to 447 have block 3's scale") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  write_ones(problem, 2, 448, 128, {1, 2}, {1, 2, 4, 8});
  const Product product(folder, problem);
  REQUIRE(product.d.shape == Shape{2, 448});
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 448; ++column) {
      const float needed = 128.0f * static_cast<float>(1 + row) * static_cast<float>(1 << (column / 128));
      CHECK(product.values[static_cast<std::size_t>(448 * row + column)] == needed);
    }
  }
}

TEST_CASE("M = 0, N = 0 and K = 0 are no errors") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  for (const std::string kind : {"1d2d", "1d1d"}) {
    succeeds("random " + problem + " --m 0 --n 5 --k 200 --kind " + kind);
    CHECK(Product(folder, problem).d.shape == Shape{0, 5});
    succeeds("random " + problem + " --m 4 --n 0 --k 200 --kind " + kind);
    CHECK(Product(folder, problem).d.shape == Shape{4, 0});
  }
  succeeds("random " + problem + " --m 2 --n 3 --k 0");
  const Product zero(folder, problem);
  CHECK(zero.d.shape == Shape{2, 3});
  for (const std::byte byte : zero.d.bytes) CHECK(byte == std::byte{0});  // +0
}

TEST_CASE("promotion keeps what thirteen bits lose") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  write_ones(problem, 1, 1, 16512, std::vector<float>(129, 1), std::vector<float>(129, 1));
  CHECK(Product(folder, problem, "--output f32").values[0] == 16512);
  CHECK(Product(folder, problem, "--output f32 --promote none").values[0] == 16384);
  CHECK(Product(folder, problem, "--output f32 --promote none --fraction-bits 25").values[0] == 16512);
  CHECK(Product(folder, problem, "--promote 128").d.dtype == DType::bf16);
}

TEST_CASE("every kind from random to d") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  struct Case {
    std::string options;
    Shape shape;
    DType dtype;
  };
  const std::vector<Case> cases{
      {"--kind 1d2d --m 5 --n 200 --k 300", {5, 200}, DType::bf16},
      {"--kind 1d1d --m 5 --n 200 --k 300 --with-c", {5, 200}, DType::f32},
      {"--kind contiguous --groups 200,0,56 --n 40 --k 200", {384, 40}, DType::bf16},
      {"--kind masked --groups 20,0,5 --max-m 32 --n 40 --k 200", {3, 32, 40}, DType::bf16},
      {"--kind k-grouped --groups 200,0,56 --m 33 --n 40", {3, 33, 40}, DType::f32},
      {"--kind batched --groups 3 --m 5 --n 40 --k 200", {3, 5, 40}, DType::bf16},
      {"--kind wgmma --n 16 --k 64 --with-c", {64, 16}, DType::f32}};
  for (const Case& each : cases) {
    INFO(each.options);
    succeeds("random " + problem + " " + each.options);
    const Product product(folder, problem);
    CHECK(product.d.shape == each.shape);
    CHECK(product.d.dtype == each.dtype);
    CHECK(product.file.metadata.at("engine") == "model");
    CHECK(product.file.metadata.at("seed") == "1");
    CHECK(Product(folder, problem, "--output f32").d.dtype == DType::f32);
    CHECK(Product(folder, problem, "--output bf16").d.dtype == DType::bf16);
  }
}

TEST_CASE("rows outside every group come out zero") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  succeeds("random " + problem + " --kind contiguous --groups 2,1 --n 3 --k 64");
  const Product contiguous(folder, problem);
  REQUIRE(contiguous.d.shape == Shape{256, 3});
  for (std::size_t i = 0; i < contiguous.values.size(); ++i) {
    const std::size_t row = i / 3;
    CHECK((contiguous.values[i] != 0) == (row < 2 || row == 128));
  }
  succeeds("random " + problem + " --kind masked --groups 2,1 --max-m 4 --n 3 --k 64");
  const Product masked(folder, problem);
  for (std::size_t i = 0; i < masked.values.size(); ++i) {
    const std::size_t group = i / 12, row = i / 3 % 4;
    CHECK((masked.values[i] != 0) == (row < (group ? 1 : 2)));
  }
}

TEST_CASE(
    "the bytes depend neither on threads, nor on the instructions, nor on the file's name; .npy holds the "
    "same d") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  succeeds("random " + problem + " --m 70 --n 300 --k 300 --seed 5");
  succeeds("gemm " + problem + " -o " + (folder / "one.safetensors") + " --threads 1");
  succeeds("gemm " + problem + " -o " + (folder / "two.safetensors") + " --threads 3");
  CHECK(read_text(folder / "one.safetensors") == read_text(folder / "two.safetensors"));
  for (const fp8twin::Simd simd : fp8twin::simd_here()) {
    succeeds("gemm " + problem + " -o " + (folder / "simd.safetensors") + " --simd " +
             std::string(simd_name(simd)));
    CHECK(read_text(folder / "one.safetensors") == read_text(folder / "simd.safetensors"));
  }
  succeeds("gemm " + problem + " -o " + (folder / "d.npy"));
  const TensorFile safetensors = fp8twin::read_tensor_file(folder / "one.safetensors"),
                   npy = fp8twin::read_tensor_file(folder / "d.npy");
  REQUIRE(npy.tensors.size() == 1);
  const auto &d = safetensors.at("d").bytes, &data = npy.tensors[0].bytes;
  CHECK(npy.tensors[0].shape == Shape{70, 300});
  CHECK(std::equal(d.begin(), d.end(), data.begin(), data.end()));
  CHECK(safetensors.metadata.at("seed") == "5");
}

TEST_CASE("the output replaces what lay there, whole") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", old = folder / "old.safetensors";
  succeeds("random " + problem + " --m 70 --n 300 --k 300");
  succeeds("random " + old + " --m 7 --n 3 --k 30");
  succeeds("gemm " + problem + " -o " + (folder / "d.safetensors"));
  succeeds("gemm " + problem + " -o " + old);
  CHECK(read_text(old) == read_text(folder / "d.safetensors"));
}

TEST_CASE("the JSON answer") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", out = folder / "d.npy";
  succeeds("random " + problem + " --m 5 --n 6 --k 200");
  const nlohmann::json json = answer("gemm " + problem + " -o " + out + " --output f32");
  CHECK(json["output"] == out);
  CHECK(json["dtype"] == "F32");
  CHECK(json["shape"] == nlohmann::json::array({5, 6}));
  CHECK(json["kind"] == "1d2d");
  CHECK(json["engine"] == "model");
  CHECK(json["fraction_bits"] == 13);
}

TEST_CASE("what cannot be done is a sentence, and no file appears") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", out = folder / "d.safetensors",
                    command = "gemm " + problem + " -o " + out;
  succeeds("random " + problem + " --m 5 --n 6 --k 200");
  refuses(command + " --engine fast", "--engine: found 'fast'");
  refuses(command + " --trace t", "--trace");
  refuses(command + " --output f16", "--output: found 'f16'");
  refuses(command + " --promote 64", "--promote: found '64'");
  refuses(command + " --promote none", problem + ": tensor 'a_scale'");
  refuses(command + " --simd mmx", "--simd: found 'mmx'; auto, portable, avx2 or avx512 is needed");
  refuses(command + " --simd portable --engine machine",
          "--simd: engine machine has no choice of instructions");
  refuses(command + " --fraction-bits 0", "0 is out of range");
  refuses(command + " --fraction-bits 41", "41 is out of range");
  refuses("gemm " + (folder / "none.safetensors") + " -o " + out, "none.safetensors: cannot be read");
  refuses("gemm " + problem + " -o " + (folder / "none/d.npy"), "none/d.npy: cannot be written");
  refuses("gemm " + problem + " -o " + (folder / ""), "is a directory");
  refuses("gemm " + problem + " -o /dev/full", "/dev/full: cannot be written");
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("peak memory is the inputs, the result and little else") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  SUCCEED("sanitizers keep shadow memory");
#else
  const Folder folder;
  const std::string problem = folder / "p.safetensors", out = folder / "d.safetensors";
  succeeds("random " + problem + " --m 4096 --n 8192 --k 128");
  const int null = open("/dev/null", O_WRONLY);
  const Ending ending = Child({"gemm", problem, "-o", out}, null, folder / "err").wait();
  close(null);
  REQUIRE(ending.status == 0);
  const double files =
      static_cast<double>(std::filesystem::file_size(problem) + std::filesystem::file_size(out));
  CHECK(static_cast<double>(ending.peak_kib) * 1024 <= 1.3 * files);
#endif
}
