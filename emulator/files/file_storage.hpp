// What keeps a TensorFile's bytes alive: the memory map, and copies of the tensors that it misaligns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/files/mapped_file.hpp"
#include "emulator/files/tensor.hpp"

namespace fp8twin {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian and are used where they lie");

struct FileStorage {
  explicit FileStorage(const std::string& path) : map(path) {}

  /// `bytes`, a part of the map, or a copy of them where they are not aligned for `dtype`.
  std::span<const std::byte> aligned(std::span<const std::byte> bytes, DType dtype) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % dtype_size(dtype) == 0) return bytes;
    copies.push_back(
        std::make_unique<std::byte[]>(bytes.size()));  // operator new aligns for every element type
    std::copy(bytes.begin(), bytes.end(), copies.back().get());
    return {copies.back().get(), bytes.size()};
  }

  MappedFile map;
  std::vector<std::unique_ptr<std::byte[]>> copies;
};

}  // namespace fp8twin
