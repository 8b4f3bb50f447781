#include "emulator/model/operand_order.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

namespace fp8twin {
namespace {

constexpr std::array<std::string_view, 4> names = {"nt", "nn", "tn", "tt"};
constexpr std::int64_t largest_extent = 0x7fffffff;
constexpr std::int64_t largest_stride = 0x7fffffff;  // so that no product below overflows

void check_span(const std::string& who, const MatrixView& view) {
  for (const auto& [name, extent] : {std::pair("rows", view.rows), std::pair("columns", view.columns)}) {
    if (extent < 0 || extent > largest_extent)
      throw Error(fmt::format("{} has {} {}; needed is 0 to 2^31 - 1", who, extent, name));
  }
  for (const std::int64_t stride : {view.row_stride, view.column_stride}) {
    if (stride < 0 || stride > largest_stride)
      throw Error(fmt::format("{} has a stride of {}; needed is 0 to 2^31 - 1", who, stride));
  }
  if (view.rows == 0 || view.columns == 0) return;
  const std::int64_t down = (view.rows - 1) * view.row_stride,
                     across = (view.columns - 1) * view.column_stride;
  if (down + across >= static_cast<std::int64_t>(view.data.size())) {
    throw Error(fmt::format("{} is a view [{}, {}] with strides [{}, {}] over {} codes; needed are {}", who,
                            view.rows, view.columns, view.row_stride, view.column_stride, view.data.size(),
                            down + across + 1));
  }
}

}  // namespace

std::string_view order_name(OperandOrder order) { return names[static_cast<std::size_t>(order)]; }

std::optional<OperandOrder> order_from_name(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<OperandOrder>(i);
  }
  return std::nullopt;
}

KMajorCodes k_major_codes(OperandOrder order, std::string_view name, const MatrixView& view) {
  const std::string who = fmt::format("operand '{}' of gemm_{}", name, order_name(order));
  check_span(who, view);
  const bool k_first = name == "a" ? a_is_k_first(order) : b_is_k_first(order);
  const std::int64_t k = k_first ? view.rows : view.columns, rows = k_first ? view.columns : view.rows;
  const std::int64_t k_stride = k_first ? view.row_stride : view.column_stride;
  const std::int64_t stride = k_first ? view.column_stride : view.row_stride;
  if (k <= 1 || rows == 0 || k_stride == 1) return {view.data.data(), rows, k, stride};
  const char other = name == "a" ? 'M' : 'N';
  throw Error(fmt::format(
      "{} is [{}, {}] = [{}, {}] with strides [{}, {}], {}; needed is K contiguous, because {}: transpose() "
      "its "
      "codes to [{}, K] once, 128x128 scales likewise, and call gemm_{}{}",
      who, k_first ? 'K' : other, k_first ? other : 'K', view.rows, view.columns, view.row_stride,
      view.column_stride, stride == 1 ? fmt::format("{} contiguous", other) : "neither dimension contiguous",
      why_k_major, other, name == "a" ? 'n' : order_name(order)[0],
      name == "b" ? 't' : order_name(order)[1]));
}

}  // namespace fp8twin
