// What the golden tests share: the folder, its files, and the count of differing bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"

namespace fp8twin::test {

inline std::filesystem::path golden_folder() {
  return std::filesystem::path(FP8TWIN_SOURCE_DIR) / "tests/golden";
}

/// Every .safetensors file under tests/golden/`room`, sorted: a new file is tested as soon as it is there.
inline std::vector<std::string> golden_files(const std::string& room) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden_folder() / room)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline nlohmann::json golden_json(const std::string& name) {
  std::ifstream stream(golden_folder() / name);
  if (!stream) throw std::runtime_error((golden_folder() / name).string() + " cannot be read");
  return nlohmann::json::parse(stream);
}

/// Elements of `size` bytes that differ in any bit.
inline std::size_t differing(std::span<const std::byte> a, std::span<const std::byte> b, std::size_t size) {
  if (a.size() != b.size()) return std::max(a.size(), b.size()) / size;
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); i += size) count += std::memcmp(&a[i], &b[i], size) != 0;
  return count;
}

/// Codes with every sign turned: what the negation of an operand means.
inline std::vector<std::uint8_t> negated(std::span<const std::uint8_t> codes) {
  std::vector<std::uint8_t> result;
  result.reserve(codes.size());
  for (const std::uint8_t code : codes) result.push_back(static_cast<std::uint8_t>(code ^ 0x80));
  return result;
}

}  // namespace fp8twin::test
