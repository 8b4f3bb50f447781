// `wgmma`: one instruction or a chain, against sums that are exact in thirteen bits and one that is not.
#include <array>
#include <cmath>
#include <filesystem>
#include <vector>

#include "emulator/files/tensor.hpp"
#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"

using namespace fp8twin::test;
using fp8twin::DType;
using fp8twin::Shape;
using fp8twin::Tensor;

namespace {

/// a [64,k] and b [n,k] from functions of (row, k), c [64,n] constant.
template <class A, class B>
void write_problem(const std::string& path, std::int64_t n, std::int64_t k, const A& a_code, const B& b_code,
                   float c_value) {
  std::vector<std::uint8_t> a, b;
  for (int row = 0; row < 64; ++row) {
    for (std::int64_t i = 0; i < k; ++i) a.push_back(a_code(row, i));
  }
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t i = 0; i < k; ++i) b.push_back(b_code(row, i));
  }
  const std::vector<float> c(static_cast<std::size_t>(64 * n), c_value);
  const std::array<Tensor, 3> tensors{fp8twin::tensor_of<std::uint8_t>("a", DType::f8_e4m3, {64, k}, a),
                                      fp8twin::tensor_of<std::uint8_t>("b", DType::f8_e4m3, {n, k}, b),
                                      fp8twin::tensor_of<float>("c", DType::f32, {64, n}, c)};
  fp8twin::write_tensor_file(path, tensors, {});
}

constexpr std::uint8_t one = 0x38, two = 0x40, largest = 0x7e;

std::vector<float> computed(const Folder& folder, const std::string& problem,
                            const std::string& options = "") {
  const std::string out = folder / "d.safetensors";
  succeeds("wgmma " + problem + " -o " + out + " " + options);
  const fp8twin::TensorFile file = fp8twin::read_tensor_file(out);
  const Tensor& d = file.at("d");
  CHECK(d.dtype == DType::f32);
  CHECK(d.shape[0] == 64);
  const auto values = d.as<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a row's and a column's own values, with c") {
  const Folder folder;
  const std::string problem = folder / "w.safetensors";
  // a[m] is one in the first m mod 32 places, b[n] two or one: d = (m mod 32) * (2 or 1) + 3
  write_problem(
      problem, 16, 32, [](int row, std::int64_t i) { return i < row % 32 ? one : std::uint8_t{0}; },
      [](std::int64_t row, std::int64_t) { return row % 2 ? two : one; }, 3);
  const std::vector<float> d = computed(folder, problem);
  REQUIRE(d.size() == 64 * 16);
  for (std::size_t i = 0; i < d.size(); ++i) {
    CHECK(d[i] == static_cast<float>(i / 16 % 32) * (i % 2 ? 2.0f : 1.0f) + 3.0f);
  }
}

TEST_CASE("small products vanish beside a large one, in one instruction") {
  const Folder folder;
  const std::string problem = folder / "w.safetensors";
  const auto code = [](std::int64_t, std::int64_t i) { return i == 0 ? largest : two; };
  write_problem(problem, 8, 32, code, code, 0);
  CHECK(computed(folder, problem)[0] == 200704);  // 448^2; the 31 fours lie below the grid of 8
  CHECK(computed(folder, problem, "--fraction-bits 25")[0] == 200704 + 31 * 4);
}

TEST_CASE("along K instructions chain: each adds to what the one before left") {
  const Folder folder;
  const std::string problem = folder / "w.safetensors";
  // The second instruction's 32 fours sum to 128 only if they meet no larger term; C = 200704 cuts each to 0.
  const auto code = [](std::int64_t, std::int64_t i) {
    return i == 0 ? largest : i >= 32 ? two : std::uint8_t{0};
  };
  write_problem(problem, 8, 64, code, code, 0);
  CHECK(computed(folder, problem)[0] == 200704);
  const auto swapped = [](std::int64_t, std::int64_t i) {
    return i == 32 ? largest : i < 32 ? two : std::uint8_t{0};
  };
  write_problem(problem, 8, 64, swapped, swapped, 0);
  CHECK(computed(folder, problem)[0] == 200704 + 128);
}

TEST_CASE("NaN and an infinite c") {
  const Folder folder;
  const std::string problem = folder / "w.safetensors";
  const auto ones = [](std::int64_t, std::int64_t) { return one; };
  write_problem(
      problem, 8, 32, [](int row, std::int64_t i) { return row == 5 && i == 31 ? std::uint8_t{0x7f} : one; },
      ones, -INFINITY);
  const std::vector<float> d = computed(folder, problem);
  CHECK(d[4 * 8] == -INFINITY);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &d[5 * 8], sizeof bits);
  CHECK(bits == 0x7fffffffu);
}

TEST_CASE("gemm takes the same file to the same d") {
  const Folder folder;
  const std::string problem = folder / "w.safetensors";
  succeeds("random " + problem + " --kind wgmma --n 256 --k 128 --with-c --distribution wide-c");
  succeeds("wgmma " + problem + " -o " + (folder / "one.npy"));
  succeeds("gemm " + problem + " -o " + (folder / "two.npy"));
  CHECK(read_text(folder / "one.npy") == read_text(folder / "two.npy"));
}

TEST_CASE("other kinds, unknown engines and options of gemm are refused") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", out = folder / "d.safetensors";
  succeeds("random " + problem + " --m 64 --n 8 --k 32");
  refuses("wgmma " + problem + " -o " + out, problem + ": is a 1d2d problem; wgmma needs one without scales");
  succeeds("random " + problem + " --kind wgmma --n 8 --k 32");
  refuses("wgmma " + problem + " -o " + out + " --engine fast", "--engine: found 'fast'");
  refuses("wgmma " + problem + " -o " + out + " --promote none", "no option is called --promote");
  CHECK_FALSE(std::filesystem::exists(out));
}
