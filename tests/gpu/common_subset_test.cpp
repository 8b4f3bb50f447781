// Kernels and layout headers keep to the common subset that NVRTC and the emulated machine both read: this
// test greps. Needs neither toolkit nor GPU.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace {

const std::filesystem::path root = FP8TWIN_SOURCE_DIR;

std::vector<std::filesystem::path> headers(const std::string& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    if (entry.path().extension() == ".hpp") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The lines of a file without // comments and string contents, so that prose and messages are free.
std::vector<std::string> code_lines(const std::filesystem::path& path) {
  std::ifstream stream(path);
  REQUIRE(stream);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (line.find("#include") == std::string::npos)
      line = std::regex_replace(line, std::regex("\"[^\"]*\""), "\"\"");
    lines.push_back(line.substr(0, line.find("//")));
  }
  return lines;
}

/// Every line of `path` that matches `forbidden`.
std::vector<std::string> matches(const std::filesystem::path& path, const std::string& forbidden) {
  const std::regex pattern(forbidden);
  std::vector<std::string> found;
  for (const std::string& line : code_lines(path)) {
    if (std::regex_search(line, pattern)) found.push_back(line);
  }
  return found;
}

}  // namespace

TEST_CASE("kernels: one vocabulary, no engine") {
  const auto files = headers("gpu/kernels");
  REQUIRE(files.size() >= 4);
  for (const auto& path : files) {
    if (path.filename() == "machine.hpp") continue;  // the one header that selects
    INFO(path.string());
    CHECK(matches(path, R"(#\s*include\s*<)").empty());
    CHECK(matches(path, R"(#\s*include\s*"(?!emulator/layout/|gpu/kernels/))").empty());
    CHECK(matches(path, R"(#\s*(if|else|elif|define|undef))").empty());
    CHECK(matches(path, R"(\b(threadIdx|blockIdx|blockDim|gridDim|warpSize)\b)").empty());
    CHECK(
        matches(path, R"(__shared__|__device__|__global__|__syncthreads|__CUDA|\basm\b|#\s*pragma\s+unroll)")
            .empty());
    CHECK(matches(path, R"(\b(fmaf?|fmul|fadd|double|atomicAdd|memcpy|reinterpret_cast)\b)").empty());
    // A configuration is read as config.x: constant on the card, run-time on the machine. Only the sizes of register arrays are
    // a type's business.
    CHECK(matches(path, R"(\bif\s+constexpr\b|\bConfig::(?!(width|sets|ring)\b))").empty());
    // Barriers and shared memory have addresses, tensor maps are passed as they lie in the arguments.
    CHECK(matches(path, R"(\b(union|goto|throw|new|delete|static_cast<u8\s*\*>\(dynamic_shared)\b)").empty());
    CHECK(matches(path, R"(\b(total|scale_[ab]|p)(\[[^\]]*\])?\s*([*+-]=|[*/]\s*[a-z]))")
              .empty());  // FP32 arithmetic has names
  }
}

TEST_CASE("a step of the ladder is one file of less than 200 lines, and opens with its picture") {
  std::size_t steps = 0;
  for (const auto& path : headers("gpu/kernels")) {
    if (path.filename().string().rfind("gemm_", 0) != 0) continue;
    ++steps;
    INFO(path.string());
    CHECK(code_lines(path).size() < 200);
    CHECK(matches(path, R"(\b(Accumulator|Registers)<(?!Config::width>))")
              .empty());  // one build serves every width
    std::ifstream stream(path);
    std::string line;
    std::size_t prose = 0;
    while (std::getline(stream, line) && line.rfind("//", 0) == 0) ++prose;
    CHECK(prose >= 8);
    CHECK(line == "#pragma once");
  }
  CHECK(steps == 9);
}

TEST_CASE("machine.hpp is the only header that selects") {
  CHECK(matches(root / "gpu/kernels/machine.hpp", R"(#ifdef __CUDACC_RTC__)").size() == 1);
  CHECK(matches(root / "gpu/kernels/machine.hpp", R"(#\s*(if|ifdef|ifndef)\b)").size() == 1);
}

TEST_CASE("layout headers: constexpr integers only") {
  const auto files = headers("emulator/layout");
  REQUIRE(files.size() >= 3);
  for (const auto& path : files) {
    INFO(path.string());
    CHECK(matches(path, R"(#\s*include\s*<)").empty());
    CHECK(matches(path, R"(#\s*include\s*"(?!emulator/layout/))").empty());
    CHECK(matches(path, R"(#\s*(if|else|elif|define))").empty());
    CHECK(matches(path, R"(\bstd::|\bfloat\b|\bdouble\b|\bthrow\b)").empty());
  }
}

TEST_CASE("PTX wrappers: small files, no standard header, no knowledge of kernels") {
  const auto files = headers("gpu/ptx");
  REQUIRE(files.size() >= 8);
  for (const auto& path : files) {
    INFO(path.string());
    CHECK(matches(path, R"(#\s*include\s*<)").empty());
    CHECK(
        matches(path, R"(#\s*include\s*"(?!emulator/layout/|gpu/ptx/|generated/wgmma_shapes.hpp))").empty());
    CHECK(code_lines(path).size() <= 140);
  }
}
