#include "emulator/report/requantize.hpp"

#include <fmt/core.h>

#include <array>

#include "emulator/files/quote.hpp"
#include "emulator/number/quantize.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

bool is_float_type(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::f32; }

struct Quantised {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;
  Shape scale_shape;
};

/// What the new file keeps alive.
struct Storage {
  std::shared_ptr<const void> original;
  std::array<Quantised, 2> operands;
};

Values values_of(const Tensor& tensor) {
  if (tensor.dtype == DType::bf16) return tensor.as<BF16>();
  if (tensor.dtype == DType::f16) return tensor.as<F16>();
  return tensor.as<float>();
}

Quantised quantise(const Tensor& x, BlockShape shape, std::span<const std::int32_t> k_sizes,
                   const Recipe& recipe, ScaleFormat format, int threads) {
  const std::size_t rank = x.shape.size();
  const std::int64_t experts = rank == 3 ? x.shape[0] : 1;
  const BlockGrid grid(experts, x.shape[rank - 2], x.shape[rank - 1], shape, k_sizes);
  Quantised q{std::vector<std::uint8_t>(static_cast<std::size_t>(grid.elements())),
              std::vector<float>(static_cast<std::size_t>(grid.scales())),
              {grid.row_blocks(), grid.column_blocks()}};
  if (rank == 3) q.scale_shape.insert(q.scale_shape.begin(), experts);
  quantize(recipe, format, grid, values_of(x), q.codes, q.scales, threads);
  return q;
}

}  // namespace

bool holds_unquantised_operands(const TensorFile& file) {
  const Tensor *a = file.find("a"), *b = file.find("b");
  return a && b && is_float_type(a->dtype) && is_float_type(b->dtype);
}

TensorFile quantised_file(const TensorFile& file, const Recipe& recipe, ScaleFormat format, int threads) {
  const Tensor* sizes = file.find("k_sizes");
  const std::span<const std::int32_t> k_sizes =
      sizes && sizes->dtype == DType::i32 ? sizes->as<std::int32_t>() : std::span<const std::int32_t>{};
  const auto storage = std::make_shared<Storage>();
  storage->original = file.storage;
  TensorFile result{file.path, {}, file.metadata, storage};
  for (const Tensor& tensor : file.tensors) {
    const bool is_a = tensor.name == "a", is_b = tensor.name == "b";
    if (!is_a && !is_b) {
      result.tensors.push_back(tensor);
      continue;
    }
    const std::size_t rank = tensor.shape.size();
    if (rank != 2 && rank != 3) {
      throw Error(fmt::format("{}: tensor {} has shape {}; needed are 2 or 3 dimensions", file.path,
                              quote(tensor.name), shape_text(tensor.shape)));
    }
    Quantised& q = storage->operands[is_a ? 0 : 1];
    try {
      q = quantise(tensor, is_a ? block_1x128 : block_128x128, k_sizes, recipe, format, threads);
    } catch (const Error& error) {  // k_sizes that do not make up K
      throw Error(fmt::format("{}: tensor {}: {}", file.path, quote(tensor.name), error.what()));
    }
    result.tensors.push_back(tensor_of<std::uint8_t>(tensor.name, DType::f8_e4m3, tensor.shape, q.codes));
    result.tensors.push_back(tensor_of<float>(tensor.name + "_scale", DType::f32, q.scale_shape, q.scales));
  }
  return result;
}

}  // namespace fp8twin
