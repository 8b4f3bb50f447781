// In which order the operands of a GEMM are given, and whether an FP8 tensor core can read them so.
//
//           a        b          D [M,N] = A B^T, both K-major, is what FP8 wgmma computes: the word nt
//   nt      [M,K]    [N,K]
//   nn      [M,K]    [K,N]      BLAS's letters, of A and then of B: n as it stands in A B, t transposed
//   tn      [K,M]    [K,N]
//   tt      [K,M]    [N,K]
//
// PTX gives wgmma's descriptors a bit for MN-major operands of 16-bit types; for 8-bit types there is none ("Strides" and
// "Matrix Descriptor"), and the layouts of shared memory that TMA fills are K-major. So an order is accepted where K's
// elements lie one after another all the same: a column-major [K,N], or an extent of at most one.
#pragma once

#include <fp8twin/model.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fp8twin {

enum class OperandOrder { nt, nn, tn, tt };

/// "nt", "nn", "tn", "tt"
std::string_view order_name(OperandOrder order);
std::optional<OperandOrder> order_from_name(std::string_view name);
/// Is a given as [K,M]?
constexpr bool a_is_k_first(OperandOrder order) {
  return order == OperandOrder::tn || order == OperandOrder::tt;
}
/// Is b given as [K,N]?
constexpr bool b_is_k_first(OperandOrder order) {
  return order == OperandOrder::nn || order == OperandOrder::tn;
}

/// Codes as gemm_slice takes them: row r begins at data + r * stride, its k codes lie one after another.
struct KMajorCodes {
  const std::uint8_t* data;
  std::int64_t rows, k, stride;
};

/// The order in which every FP8 operand must be, in the words of each refusal.
inline constexpr std::string_view why_k_major =
    "FP8 wgmma reads both operands K-major (only 16-bit types may be MN-major)";

/// Operand `name` ("a" or "b") of gemm_<order>. Throws Error when the span is too small, or K is not the contiguous
/// dimension: which operand, what order was found, why, and what to transpose.
KMajorCodes k_major_codes(OperandOrder order, std::string_view name, const MatrixView& view);

}  // namespace fp8twin
