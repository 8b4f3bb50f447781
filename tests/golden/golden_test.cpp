// Replays what an H200 computed through the emulator: 0 differing bits over every file.
#include <cstdint>
#include <map>
#include <set>

#include "emulator/model/gemm.hpp"
#include "emulator/model/problem.hpp"
#include "fp8twin/model.hpp"
#include "tests/catch.hpp"
#include "tests/golden/golden.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

/// The provenance every recorded file carries.
void require_provenance(const TensorFile& file) {
  for (const char* key : {"program", "command", "device", "driver", "cuda", "nvrtc", "date", "seed",
                          "kernels", "distribution"}) {
    INFO(file.path << " says where it comes from: " << key);
    REQUIRE(file.metadata.contains(key));
    CHECK_FALSE(file.metadata.at(key).empty());
  }
}

/// The file's operands through the model, compared with its d.
std::size_t replay(const TensorFile& file) {
  const Tensor& d = file.at("d");
  std::vector<std::byte> ours(d.bytes.size(), std::byte{0xee});
  gemm(read_problem(file), d.dtype, ours);
  return differing(ours, d.bytes, dtype_size(d.dtype));
}

/// The elements of d that `core` gets wrong.
std::size_t differing_with(const TensorFile& file, const TensorCore& core) {
  const Tensor& d = file.at("d");
  std::vector<std::byte> theirs(d.bytes.size(), std::byte{0xee});
  gemm(read_problem(file), d.dtype, theirs, GemmOptions{.core = core});
  return differing(theirs, d.bytes, dtype_size(d.dtype));
}

}  // namespace

TEST_CASE("every recording names the same kernels") {
  std::map<std::string, int> digests;
  for (const char* room : {"gemm", "wgmma"}) {
    for (const std::string& path : golden_files(room))
      ++digests[read_tensor_file(path).metadata.at("kernels")];
  }
  for (const char* name : {"compare.json", "conversions.json", "gemm.json", "wgmma_digests.json"}) {
    ++digests[golden_json(name).at("kernels").get<std::string>()];
  }
  REQUIRE(digests.size() == 1);
  CHECK(digests.begin()->second > 100);
}

TEST_CASE("recorded results tell Hopper's tensor core from its neighbours") {
  const TensorFile gemm_file =
      read_tensor_file((golden_folder() / "gemm/m33_n40_k200_normal_f32.safetensors").string());
  const TensorFile wgmma_file =
      read_tensor_file((golden_folder() / "wgmma/n064_uniform.safetensors").string());
  for (const TensorFile* file : {&gemm_file, &wgmma_file}) {
    INFO(file->path);
    CHECK(differing_with(*file, sm90) == 0);
    CHECK(differing_with(*file, {13, 13, 16}) > 0);  // two groups of 16
    CHECK(differing_with(*file, {12, 12, 32}) > 0);
    CHECK(differing_with(*file, {14, 14, 32}) > 0);
    CHECK(differing_with(*file, with_fraction_bits(25)) > 0);
  }
}

TEST_CASE("recorded GEMMs: 0 differing bits") {
  std::set<std::int64_t> m, n, k;
  std::set<DType> outputs;
  std::set<std::string> distributions;
  for (const std::string& path : golden_files("gemm")) {
    INFO(path);
    const TensorFile file = read_tensor_file(path);
    require_provenance(file);
    CHECK(replay(file) == 0);
    const Problem problem = read_problem(file);
    m.insert(problem.m), n.insert(problem.n), k.insert(problem.k);
    outputs.insert(file.at("d").dtype);
    distributions.insert(file.metadata.at("distribution"));
  }
  // The folder holds what it is there for.
  for (const std::int64_t each : {1, 7, 200}) CHECK(m.contains(each));
  for (const std::int64_t each : {8, 24, 448, 576}) CHECK(n.contains(each));
  for (const std::int64_t each : {0, 128, 192, 384, 1152, 7168}) CHECK(k.contains(each));
  CHECK(outputs == std::set{DType::bf16, DType::f32});
  CHECK(distributions.contains("adversarial"));
}

TEST_CASE("recorded wgmma: 0 differing bits") {
  std::map<std::int64_t, int> files_of_n;
  std::map<std::string, int> files_of_distribution;
  int chains = 0;
  for (const std::string& path : golden_files("wgmma")) {
    INFO(path);
    const TensorFile file = read_tensor_file(path);
    require_provenance(file);
    CHECK(replay(file) == 0);
    const Problem problem = read_problem(file);
    if (problem.k > 32) {
      ++chains;
    } else {
      ++files_of_n[problem.n];
      ++files_of_distribution[file.metadata.at("distribution")];
    }
  }
  CHECK(files_of_n.size() == 32);
  for (const auto& [n, count] : files_of_n) {
    INFO("N = " << n);
    CHECK(n % 8 == 0);
    CHECK(count >= 3);
  }
  CHECK(files_of_distribution.size() == 12);
  for (const auto& [name, count] : files_of_distribution) {
    INFO(name);
    CHECK(count >= 8);
  }
  CHECK(chains >= 8);
}

TEST_CASE("recorded variants of wgmma: scale-d false, negation, A from registers") {
  std::map<std::string, int> replayed;
  for (const std::string& path : golden_files("wgmma")) {
    const TensorFile file = read_tensor_file(path);
    const Problem problem = read_problem(file);
    for (const Tensor& tensor : file.tensors) {
      if (tensor.name.rfind("d_", 0) != 0) continue;
      INFO(path << " " << tensor.name);
      const bool minus_a = tensor.name.find("negate_a") != std::string::npos;
      const bool minus_b = tensor.name.find("negate_b") != std::string::npos;
      const bool no_c = tensor.name == "d_scale_d_false";
      const auto a = minus_a ? negated(problem.a) : std::vector(problem.a.begin(), problem.a.end());
      const auto b = minus_b ? negated(problem.b) : std::vector(problem.b.begin(), problem.b.end());
      std::vector<float> ours(static_cast<std::size_t>(tensor.elements()));
      wgmma(problem.n, problem.k, a, b, no_c ? std::span<const float>() : problem.c, ours);
      CHECK(differing(std::as_bytes(std::span(ours)), tensor.bytes, 4) == 0);
      ++replayed[tensor.name];
    }
  }
  for (const char* name :
       {"d_scale_d_false", "d_negate_a", "d_negate_b", "d_negate_a_negate_b", "d_register_a"}) {
    INFO(name);
    CHECK(replayed[name] >= 4);
  }
}
