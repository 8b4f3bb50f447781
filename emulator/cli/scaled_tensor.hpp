// Tensors and their block scales, as files pair them: NAME in F8_E4M3 with NAME_scale or NAME_scale_inv.
//
//   codes [R,C]    scales              one scale for
//                  [R, C/128]          1 row, 128 columns (1x128)
//                  [R/128, C/128]      128x128
//                  [R, 1]              a row
//                  [1, 1], [1], []     the whole tensor
//
// Quotients round up. With a leading dimension of experts codes and scales both have it. Where a shape can be
// read in two ways (R = 1: 1x128 or 128x128) both readings give every element the same scale.
//
// Both suffixes mean the same here, value = code * scale, as in DeepSeek's checkpoints, where "inv" says that
// the scale is the inverse of the quantiser's multiplier.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/files/tensor.hpp"
#include "emulator/number/quantize.hpp"

namespace fp8twin::cli {

/// The last two extents are rows and columns; anything before is the number of experts. Rank 2 or 3.
struct Extents {
  std::int64_t experts, rows, columns;
};
Extents extents_of(const Shape& shape);

/// NAME_scale or NAME_scale_inv, nullptr when there is neither. Throws Error when there are both.
const Tensor* find_scale(const TensorFile& file, const Tensor& codes);

/// Is `tensor` the scale of some F8_E4M3 tensor in the file?
bool is_scale(const TensorFile& file, const Tensor& tensor);

/// The groups' columns of a GEMM grouped along K, which cut the blocks of `a` and `b`: the file's `k_sizes`,
/// or none. Throws Error when they do not add up to the tensor's columns.
std::span<const std::int32_t> column_groups(const TensorFile& file, const Tensor& tensor);

/// The blocks that a scale tensor of this shape describes. Throws Error that lists the shapes that would do.
BlockGrid grid_of_scales(const TensorFile& file, const Tensor& codes, const Tensor& scale);

/// The shape that NAME_scale gets under `grid`: NAME's, with blocks in place of rows and columns.
Shape scale_shape(const Shape& shape, const BlockGrid& grid);

/// The scales as binary32: F32 as they are; BF16, F16 and F8_E8M0 widened, which is exact. Throws Error for other
/// dtypes; `path` names the file in it.
std::vector<float> scale_values(const std::string& path, const Tensor& scale);

/// The tensor's numbers if it is BF16, F16 or F32.
std::optional<Values> float_values(const Tensor& tensor);

}  // namespace fp8twin::cli
