// How many elements of a row, or rows of a weight, share a scale: 128, in every recipe of this project.
//
//     extent 300:   | 0 ... 127 | 128 ... 255 | 256 ... 299 |    3 scales; the last block is a partial one
//
// The number is DeepGEMM's, and the kernel's reason for it: 128 E4M3 codes of K are one 128-byte row of shared memory,
// four wgmma steps deep, after which the sum is promoted to FP32 under one pair of scales. The groups of a contiguous
// GEMM start on multiples of it too, so that no tile has rows of two. Other block shapes: number/block_grid.hpp.
#pragma once

#include <cstdint>

namespace fp8twin {

inline constexpr std::int64_t scale_block = 128;

/// The number of blocks that hold `extent` elements, the last one perhaps partial.
constexpr std::int64_t scale_blocks(std::int64_t extent) { return (extent + scale_block - 1) / scale_block; }

}  // namespace fp8twin
