// Small tensor files for the command tests: made from vectors, read back into vectors.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"

namespace fp8twin::test {

/// Collects tensors and keeps their bytes, then writes them.
class FileMaker {
 public:
  template <class T>
  FileMaker& add(const std::string& name, DType dtype, Shape shape, const std::vector<T>& values) {
    auto& bytes = bytes_.emplace_back(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    tensors_.push_back({name, dtype, std::move(shape), bytes});
    return *this;
  }
  FileMaker& f32(const std::string& name, Shape shape, const std::vector<float>& values) {
    return add(name, DType::f32, std::move(shape), values);
  }
  /// The upper halves of the floats, which must be BF16 values.
  FileMaker& bf16(const std::string& name, Shape shape, const std::vector<float>& values) {
    std::vector<std::uint16_t> words;
    for (const float value : values) {
      std::uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      words.push_back(static_cast<std::uint16_t>(bits >> 16));
    }
    return add(name, DType::bf16, std::move(shape), words);
  }
  FileMaker& codes(const std::string& name, Shape shape, const std::vector<std::uint8_t>& values) {
    return add(name, DType::f8_e4m3, std::move(shape), values);
  }
  std::string write(const std::string& path, const Metadata& metadata = {}) const {
    write_tensor_file(path, tensors_, metadata);
    return path;
  }

 private:
  std::deque<std::vector<std::byte>> bytes_;
  std::vector<Tensor> tensors_;
};

template <class T>
std::vector<T> values_of(const TensorFile& file, const std::string& name) {
  const auto values = file.at(name).as<T>();
  return {values.begin(), values.end()};
}

}  // namespace fp8twin::test
