// Which elements of a row-major [experts, rows, columns] array share a scale.
//
//                 columns 0..127   128..255   256..299      1x128: every row by itself, 128 columns a block
//     row 0      |      0,0      |   0,1    |  0,2  |      128x128: 128 rows and 128 columns a block
//     row 1      |      1,0      |   1,1    |  1,2  |      The last block of a row or column: partial
//
// Scales are row-major [experts, row blocks, column blocks]; experts never share one, so each expert's rows
// start a block. In a GEMM grouped along K the blocks of columns start anew with each group: sizes 100 and 60
// give the column blocks 0..99 and 100..159.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "emulator/support/error.hpp"

namespace fp8twin {

struct BlockShape {
  std::int64_t rows = 1, columns = 128;
  friend constexpr bool operator==(BlockShape, BlockShape) = default;
};

inline constexpr BlockShape block_1x128{1, 128};
inline constexpr BlockShape block_128x128{128, 128};

class BlockGrid {
 public:
  std::int64_t experts = 1, rows = 0, columns = 0;
  BlockShape shape;

  /// `k_sizes`: the groups' columns, which add up to `columns`; none: one group. Throws Error when they do not:
  /// they come from files, and every index below trusts them.
  BlockGrid(std::int64_t experts_, std::int64_t rows_, std::int64_t columns_, BlockShape shape_,
            std::span<const std::int32_t> k_sizes = {})
      : experts(experts_), rows(rows_), columns(columns_), shape(shape_) {
    if (k_sizes.empty()) groups_.push_back({0, 0});
    Group next{0, 0};
    for (const std::int64_t size : k_sizes) {
      if (size < 0) {
        throw Error("k_sizes: a group has " + std::to_string(size) + " columns; 0 or more are needed");
      }
      groups_.push_back(next);
      next = {next.column + size, next.block + blocks(size, shape.columns)};
    }
    if (!k_sizes.empty() && next.column != columns) {
      throw Error("k_sizes: they add up to " + std::to_string(next.column) +
                  "; needed is the number of columns, " + std::to_string(columns));
    }
    column_blocks_ = k_sizes.empty() ? blocks(columns, shape.columns) : next.block;
  }

  std::int64_t row_blocks() const { return blocks(rows, shape.rows); }
  std::int64_t column_blocks() const { return column_blocks_; }
  std::int64_t elements() const { return experts * rows * columns; }
  std::int64_t scales() const { return experts * row_blocks() * column_blocks(); }

  /// The first column of a block of columns; of block number column_blocks(): `columns`.
  std::int64_t column_start(std::int64_t block) const {
    if (block == column_blocks_) return columns;
    const Group& group = last_at_or_before(&Group::block, block);
    return group.column + (block - group.block) * shape.columns;
  }

  /// The index of the scale of one element.
  std::int64_t scale_index(std::int64_t expert, std::int64_t row, std::int64_t column) const {
    const Group& group = last_at_or_before(&Group::column, column);
    const std::int64_t column_block = group.block + (column - group.column) / shape.columns;
    return (expert * row_blocks() + row / shape.rows) * column_blocks() + column_block;
  }

 private:
  /// A group along K: its first column and its first block. An empty group has those of the next one.
  struct Group {
    std::int64_t column, block;
  };

  static constexpr std::int64_t blocks(std::int64_t extent, std::int64_t size) {
    return (extent + size - 1) / size;
  }

  const Group& last_at_or_before(std::int64_t Group::*field, std::int64_t at) const {
    const auto starts_later = [field](std::int64_t value, const Group& group) {
      return value < group.*field;
    };
    return *std::prev(std::upper_bound(groups_.begin(), groups_.end(), at, starts_later));
  }

  // One entry for each group, not for each block: a header may claim 2^34 columns and hold no row.
  std::vector<Group> groups_;
  std::int64_t column_blocks_ = 0;
};

}  // namespace fp8twin
