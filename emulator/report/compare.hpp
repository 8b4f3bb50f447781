// Compares two tensors of one dtype and shape, bits first.
//
//   different      elements whose bit patterns differ; -0 and +0 do. With nan_equal, two NaNs of any
//                  patterns do not.
//   nan_mismatch   those of them with a NaN on at least one side. They have no distance: left out of
//                  everything below.
//   max_ulp        largest distance in representable steps of the dtype (word.hpp); -0 and +0 are 0 apart.
//   ulp_histogram  [0] distance 0 (the signed zeros), [i] distances 2^(i-1) to 2^i - 1.
//   max_abs        largest |a - b|, in double. An infinity against anything else is infinitely far away.
//   max_rel        largest |a - b| / max(|a|, |b|): symmetric, and at most 2; infinite where |a - b| is.
//   calc_diff      DeepGEMM's score 1 - 2 sum(ab) / sum(a^2 + b^2), over all pairs of finite values, in
//                  double. Computed as the equal sum((a - b)^2) / sum(a^2 + b^2), which does not cancel; 0
//                  when both are all zero.
//
// Tensors are read where they lie, in chunks handed to threads. Chunks are the same for every number of
// threads and their sums are added in order, so the result does not depend on it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulator/files/tensor.hpp"

namespace fp8twin {

/// Elements [begin, end) in row-major order.
struct IndexRange {
  std::int64_t begin = 0, end = 0;
};

struct CompareOptions {
  bool nan_equal = false;
  int threads = 0;
  int first_count = 5;  // differences to keep
  /// Compare these elements only, ascending and disjoint; absent: all of them.
  std::optional<std::vector<IndexRange>> ranges;
};

struct Difference {
  std::int64_t index = 0;
  std::uint32_t a = 0, b = 0;  // bit patterns
};

struct Comparison {
  std::int64_t elements = 0, different = 0, nan_mismatch = 0;
  std::uint64_t max_ulp = 0;
  std::array<std::int64_t, 35> ulp_histogram{};
  double max_abs = 0, max_rel = 0, calc_diff = 0;
  std::int64_t max_ulp_index = -1, max_abs_index = -1, max_rel_index = -1;  // -1: nothing differs so
  std::vector<Difference> first;

  bool equal() const { return different == 0; }
  bool within(std::uint64_t ulp) const { return nan_mismatch == 0 && max_ulp <= ulp; }
};

/// a and b must have one dtype and shape; anything else is an Error.
Comparison compare(const Tensor& a, const Tensor& b, const CompareOptions& options = {});

/// Indices of the differing elements, ascending; at most `limit` of them, evenly spaced among
/// `comparison.different`.
std::vector<std::int64_t> differing_elements(const Tensor& a, const Tensor& b, const Comparison& comparison,
                                             const CompareOptions& options, std::int64_t limit);

/// At most `limit` indices, evenly spaced among the elements of `ranges`.
std::vector<std::int64_t> evenly_spaced(std::span<const IndexRange> ranges, std::int64_t limit);

/// The coordinates of element `index`.
Shape coordinates(const Shape& shape, std::int64_t index);

}  // namespace fp8twin
