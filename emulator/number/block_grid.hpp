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
#include <span>
#include <vector>

namespace fp8twin {

struct BlockShape {
  std::int64_t rows = 1, columns = 128;
  friend constexpr bool operator==(BlockShape, BlockShape) = default;
};

inline constexpr BlockShape block_1x128{1, 128};
inline constexpr BlockShape block_128x128{128, 128};

struct BlockGrid {
  std::int64_t experts = 1, rows = 0, columns = 0;
  BlockShape shape;
  std::vector<std::int64_t> column_starts;  // first column of each block, then `columns`

  /// `k_sizes`: the groups' columns, which add up to `columns`; none: one group.
  BlockGrid(std::int64_t experts_, std::int64_t rows_, std::int64_t columns_, BlockShape shape_,
            std::span<const std::int32_t> k_sizes = {})
      : experts(experts_), rows(rows_), columns(columns_), shape(shape_) {
    const auto add_group = [&](std::int64_t first, std::int64_t last) {
      for (; first < last; first += shape.columns) column_starts.push_back(first);
    };
    std::int64_t first = 0;
    for (const std::int64_t size : k_sizes) {
      add_group(first, first + size);
      first += size;
    }
    if (k_sizes.empty()) add_group(0, columns);
    column_starts.push_back(columns);
  }

  std::int64_t row_blocks() const { return (rows + shape.rows - 1) / shape.rows; }
  std::int64_t column_blocks() const { return static_cast<std::int64_t>(column_starts.size()) - 1; }
  std::int64_t elements() const { return experts * rows * columns; }
  std::int64_t scales() const { return experts * row_blocks() * column_blocks(); }

  /// The index of the scale of one element.
  std::int64_t scale_index(std::int64_t expert, std::int64_t row, std::int64_t column) const {
    const auto after = std::upper_bound(column_starts.begin(), column_starts.end(), column);
    const std::int64_t column_block = after - column_starts.begin() - 1;
    return (expert * row_blocks() + row / shape.rows) * column_blocks() + column_block;
  }
};

}  // namespace fp8twin
