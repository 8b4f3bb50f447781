// What a launch multiplies: one product D = A B^T, or a group of them. The host's side of gpu/kernels/groups.hpp.
//
//   form                        m                  k             what else the kernel reads       known to the host
//   none                        rows of D          K             -                                all
//   batched                     rows of one D      K             -                                all
//   contiguous                  rows of all        K             m_indices or group_ends          perhaps `rows`
//   masked                      rows of room       K             masked_m                         perhaps `rows`
//   along_k                     rows of each D     Ktotal        -                                k_sizes
//
// `rows` only chooses: a configuration, an order of tiles. What the kernel does is decided by the arrays it reads on the card,
// where the kernel in front may just have written them.
#pragma once

#include <vector>

#include "gpu/kernels/config.hpp"

namespace fp8twin {

/// What a configuration must know of the product.
struct ProductForm {
  Grouping grouping = Grouping::none;
  bool b_scale_per_row = false;  // 1D1D
  bool accumulate = false;       // D = c + product
  friend bool operator==(const ProductForm&, const ProductForm&) = default;
};

struct Product {
  ProductForm form;
  i64 m = 0, n = 0, k = 0;
  i64 groups = 1;
  std::vector<i64> rows = {};     // of each group that count; empty: not known
  std::vector<i64> k_sizes = {};  // along_k: K of each group

  /// Rows of each group that count, or where nobody knows, room for them: as many as the choice of tiles should expect.
  std::vector<i64> expected_rows() const {
    if (!rows.empty()) return rows;
    if (form.grouping != Grouping::contiguous) return std::vector<i64>(static_cast<std::size_t>(groups), m);
    return std::vector<i64>(static_cast<std::size_t>(groups), groups > 0 ? (m + groups - 1) / groups : 0);
  }
};

/// K blocks that a group of `size` along K takes in the arrays of the kernel: partial ones are filled up with zeros, and an
/// empty group has one, so that its product comes out zero like any other.
constexpr i64 k_blocks_taken(i64 size) { return size <= k_block ? 1 : (size + k_block - 1) / k_block; }

}  // namespace fp8twin
