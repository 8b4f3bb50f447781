// A random problem in memory: what `random` writes to a file, and what `verify` hands to engines.
//
//   extents, distribution, seed  ->  a, b, a_scale, b_scale, c, indices        the same bytes on every machine
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/cli/problem_extents.hpp"
#include "emulator/files/tensor.hpp"
#include "emulator/model/distribution.hpp"

namespace fp8twin::cli {

class RandomProblem {
 public:
  RandomProblem(const ProblemExtents& extents, Distribution distribution, std::uint64_t seed, int threads);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// As if read from `path`; keeps the bytes alive.
  TensorFile file(const std::string& path, const Metadata& metadata) const;

 private:
  std::shared_ptr<const void> storage_;
  std::vector<Tensor> tensors_;
};

}  // namespace fp8twin::cli
