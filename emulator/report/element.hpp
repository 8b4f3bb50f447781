// One element of a problem's d with all that goes into it: a row of A, a row of B, their scales, c.
//
// Reports need single elements, picked by their index in d: the differing ones, or a sample. Elements finds
// the row and column behind an index for every kind of problem; what no slice covers (padding, masked rows)
// has no element.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/model/slices.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/number/scale_block.hpp"
#include "emulator/number/tensor_core.hpp"
#include "emulator/report/compare.hpp"

namespace fp8twin {

struct Element {
  const std::uint8_t* a = nullptr;  // k codes
  const std::uint8_t* b = nullptr;
  std::int64_t k = 0;
  bool scaled = true;              // false for wgmma: one chain from c, no scales
  const float* a_scale = nullptr;  // one for each K block
  const float* b_scale = nullptr;
  const float* c = nullptr;  // null: none

  std::int64_t k_blocks() const { return scale_blocks(k); }
  std::int64_t block_length(std::int64_t block) const {
    return block + 1 < k_blocks() ? scale_block : k - scale_block * block;
  }
  /// fl32(scale_a * scale_b) of a K block; 1 without scales.
  float scale(std::int64_t block) const { return scaled ? mul_rn(a_scale[block], b_scale[block]) : 1.0f; }
  /// One scale pair for all of K: what a chain without promotion needs.
  bool constant_scales() const;
};

class Elements {
 public:
  explicit Elements(const Problem& problem);
  /// The indices of d that the problem defines, ascending.
  const std::vector<IndexRange>& ranges() const { return ranges_; }
  std::int64_t count() const;
  /// The element with index `index` of d, which must lie in ranges().
  Element at(std::int64_t index) const;

 private:
  std::vector<GemmSlice> slices_;  // not empty, by d_offset
  std::vector<IndexRange> ranges_;
  bool scaled_;
};

/// The tensor core along `count` products, 32 at a time, from accumulator c; a short last step is filled
/// with zeros.
float chain(const TensorCore& core, const std::uint8_t* a, const std::uint8_t* b, std::int64_t count,
            float c = 0.0f);

}  // namespace fp8twin
