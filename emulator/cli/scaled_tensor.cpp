#include "emulator/cli/scaled_tensor.hpp"

#include <fmt/core.h>

#include <string>

#include "emulator/files/quote.hpp"
#include "emulator/number/e8m0.hpp"
#include "emulator/number/scale_block.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

/// The extent of a block along a dimension of `extent` elements that has `scales` scales; 0: no such block.
std::int64_t block_extent(std::int64_t extent, std::int64_t scales, bool may_be_one) {
  if (may_be_one && scales == extent) return 1;
  if (scales == scale_blocks(extent)) return scale_block;
  if (scales == 1) return extent;
  return 0;
}

[[noreturn]] void refuse_scale(const TensorFile& file, const Tensor& codes, const Tensor& scale) {
  const auto [experts, rows, columns] = extents_of(codes.shape);
  const auto shape = [&](std::int64_t r, std::int64_t c) {
    return shape_text(codes.shape.size() == 3 ? Shape{experts, r, c} : Shape{r, c});
  };
  throw Error(fmt::format("{}: tensor {} has shape {}; the scales of {}, shape {}, need {}, {}, {} or {}",
                          file.path, quote(scale.name), shape_text(scale.shape), quote(codes.name),
                          shape_text(codes.shape), shape(rows, scale_blocks(columns)),
                          shape(scale_blocks(rows), scale_blocks(columns)), shape(rows, 1), shape(1, 1)));
}

}  // namespace

Extents extents_of(const Shape& shape) {
  const std::size_t rank = shape.size();
  return {rank == 3 ? shape[0] : 1, shape[rank - 2], shape[rank - 1]};
}

const Tensor* find_scale(const TensorFile& file, const Tensor& codes) {
  const Tensor* scale = file.find(codes.name + "_scale");
  const Tensor* inverse = file.find(codes.name + "_scale_inv");
  if (scale && inverse) {
    throw Error(fmt::format("{}: tensor {} has both {} and {}; needed is one of them", file.path,
                            quote(codes.name), quote(scale->name), quote(inverse->name)));
  }
  return scale ? scale : inverse;
}

bool is_scale(const TensorFile& file, const Tensor& tensor) {
  for (const std::string_view suffix : {"_scale", "_scale_inv"}) {
    if (!tensor.name.ends_with(suffix)) continue;
    const Tensor* codes =
        file.find(std::string_view(tensor.name).substr(0, tensor.name.size() - suffix.size()));
    if (codes && codes->dtype == DType::f8_e4m3) return true;
  }
  return false;
}

std::span<const std::int32_t> column_groups(const TensorFile& file, const Tensor& tensor) {
  const Tensor* sizes = file.find("k_sizes");
  if (!sizes || sizes->dtype != DType::i32 || (tensor.name != "a" && tensor.name != "b")) return {};
  const auto values = sizes->as<std::int32_t>();
  std::int64_t sum = 0;
  bool negative = false;
  for (const std::int32_t size : values) {
    sum += size;
    negative |= size < 0;
  }
  if (negative || sum != tensor.shape.back()) {
    throw Error(fmt::format(
        "{}: tensor \"k_sizes\" must hold sizes >= 0 that add up to the {} columns of {}; they add up to {}",
        file.path, tensor.shape.back(), quote(tensor.name), sum));
  }
  return values;
}

BlockGrid grid_of_scales(const TensorFile& file, const Tensor& codes, const Tensor& scale) {
  const auto [experts, rows, columns] = extents_of(codes.shape);
  const bool empty = codes.elements() == 0;
  if (scale.shape.empty() || scale.shape == Shape{1}) {
    if (empty) return {experts, rows, columns, block_1x128};
    return {1, experts * rows, columns, {experts * rows, columns}};
  }
  if (scale.shape.size() != codes.shape.size()) refuse_scale(file, codes, scale);
  const auto [scale_experts, scale_rows, scale_columns] = extents_of(scale.shape);
  if (scale_experts != experts) refuse_scale(file, codes, scale);
  if (empty) return {experts, rows, columns, block_1x128};

  const auto groups = column_groups(file, codes);
  const bool cut =
      !groups.empty() && scale_columns == BlockGrid(1, 1, columns, block_1x128, groups).column_blocks();
  const BlockShape shape{block_extent(rows, scale_rows, true),
                         cut ? scale_block : block_extent(columns, scale_columns, false)};
  if (shape.rows == 0 || shape.columns == 0) refuse_scale(file, codes, scale);
  return {experts, rows, columns, shape, cut ? groups : std::span<const std::int32_t>()};
}

Shape scale_shape(const Shape& shape, const BlockGrid& grid) {
  Shape result = shape;
  result[shape.size() - 2] = grid.row_blocks();
  result[shape.size() - 1] = grid.column_blocks();
  return result;
}

std::vector<float> scale_values(const std::string& path, const Tensor& scale) {
  const auto widened = [&]<class Code>(Code) {
    std::vector<float> values;
    for (const auto code : scale.as<decltype(Code::code)>()) values.push_back(Code{code}.value());
    return values;
  };
  switch (scale.dtype) {
    case DType::f32: {
      const auto values = scale.as<float>();
      return {values.begin(), values.end()};
    }
    case DType::bf16:
      return widened(BF16{});
    case DType::f16:
      return widened(F16{});
    case DType::f8_e8m0:
      return widened(E8M0{});
    default:
      throw Error(fmt::format("{}: tensor {} has dtype {}; scales of F32, BF16, F16 or F8_E8M0 are needed",
                              path, quote(scale.name), dtype_name(scale.dtype)));
  }
}

std::optional<Values> float_values(const Tensor& tensor) {
  switch (tensor.dtype) {
    case DType::bf16:
      return tensor.as<BF16>();
    case DType::f16:
      return tensor.as<F16>();
    case DType::f32:
      return tensor.as<float>();
    default:
      return std::nullopt;
  }
}

}  // namespace fp8twin::cli
