// Files for the tests of diff and analyze: small problems and results, written through the library.
#pragma once

#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"
#include "tests/report/small_problem.hpp"

namespace fp8twin::test {

inline void write(const std::string& path, const std::vector<Tensor>& tensors) {
  write_tensor_file(path, tensors, {});
}

inline void write_f32(const std::string& path, const std::vector<float>& values, Shape shape,
                      const std::string& name = "d") {
  write(path, {tensor_of<float>(name, DType::f32, std::move(shape), values)});
}

inline void write_bf16(const std::string& path, const std::vector<float>& values, Shape shape,
                       const std::string& name = "d") {
  const std::vector<std::uint16_t> codes = SmallProblem::bf16(values);
  write(path, {tensor_of<std::uint16_t>(name, DType::bf16, std::move(shape), codes)});
}

}  // namespace fp8twin::test
