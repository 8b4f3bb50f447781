// fp8twin/model.hpp: the GEMM over views in any order, and the helpers that put operands and scales in order.
#include <fmt/core.h>

#include <fp8twin/model.hpp>

#include "emulator/model/entry_checks.hpp"
#include "emulator/model/transpose.hpp"

namespace fp8twin {
namespace {

template <class T>
void in_order(OperandOrder order, const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
              std::span<const float> b_scale, std::span<T> d, const ModelOptions& options,
              std::span<const float> c) {
  const KMajorCodes a_codes = k_major_codes(order, "a", a), b_codes = k_major_codes(order, "b", b);
  if (a_codes.k != b_codes.k) {
    throw Error(fmt::format("operands 'a' and 'b' of gemm_{} have K = {} and K = {}; needed is the same",
                            order_name(order), a_codes.k, b_codes.k));
  }
  gemm_k_major(a_codes, a_scale, b_codes, b_scale, d, options, c);
}

template <class T>
void checked_transpose(std::int64_t rows, std::int64_t columns, std::span<const T> x, std::span<T> y) {
  need_extent("rows", rows), need_extent("columns", columns);
  need_size("x", x.size(), rows, columns);
  need_size("y", y.size(), columns, rows);
  transpose_matrix(rows, columns, x, y);
}

void check_scales(std::int64_t rows, std::int64_t k_blocks, std::size_t scales, std::size_t aligned) {
  need_extent("rows", rows), need_extent("k_blocks", k_blocks);
  need_size("scales", scales, rows, k_blocks);
  need_size("aligned", aligned, k_blocks, aligned_rows(rows));
}

}  // namespace

void gemm_nt(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<float> d, const ModelOptions& options,
             std::span<const float> c) {
  in_order(OperandOrder::nt, a, a_scale, b, b_scale, d, options, c);
}

void gemm_nt(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options,
             std::span<const float> c) {
  in_order(OperandOrder::nt, a, a_scale, b, b_scale, d, options, c);
}

void gemm_nn(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<float> d, const ModelOptions& options,
             std::span<const float> c) {
  in_order(OperandOrder::nn, a, a_scale, b, b_scale, d, options, c);
}

void gemm_nn(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options,
             std::span<const float> c) {
  in_order(OperandOrder::nn, a, a_scale, b, b_scale, d, options, c);
}

void gemm_tn(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<float> d, const ModelOptions& options,
             std::span<const float> c) {
  in_order(OperandOrder::tn, a, a_scale, b, b_scale, d, options, c);
}

void gemm_tn(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options,
             std::span<const float> c) {
  in_order(OperandOrder::tn, a, a_scale, b, b_scale, d, options, c);
}

void gemm_tt(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<float> d, const ModelOptions& options,
             std::span<const float> c) {
  in_order(OperandOrder::tt, a, a_scale, b, b_scale, d, options, c);
}

void gemm_tt(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options,
             std::span<const float> c) {
  in_order(OperandOrder::tt, a, a_scale, b, b_scale, d, options, c);
}

void transpose(std::int64_t rows, std::int64_t columns, std::span<const std::uint8_t> x,
               std::span<std::uint8_t> y) {
  checked_transpose(rows, columns, x, y);
}

void transpose(std::int64_t rows, std::int64_t columns, std::span<const float> x, std::span<float> y) {
  checked_transpose(rows, columns, x, y);
}

void align_scales(std::int64_t rows, std::int64_t k_blocks, std::span<const float> scales,
                  std::span<float> aligned) {
  check_scales(rows, k_blocks, scales.size(), aligned.size());
  to_aligned(rows, k_blocks, scales, aligned);
}

void unalign_scales(std::int64_t rows, std::int64_t k_blocks, std::span<const float> aligned,
                    std::span<float> scales) {
  check_scales(rows, k_blocks, scales.size(), aligned.size());
  from_aligned(rows, k_blocks, aligned, scales);
}

}  // namespace fp8twin
