#include "emulator/cli/problem_order.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

bool has_two_extents(const Shape& shape) { return shape.size() == 2 || shape.size() == 3; }

/// Are the bytes of this shape those of its transpose?
bool degenerate(const Shape& shape) { return std::min(shape.back(), shape[shape.size() - 2]) <= 1; }

/// "b [K, N] = [512, 256]"
std::string found_text(const Tensor& tensor) {
  const char other = tensor.name == "a" ? 'M' : 'N';
  return fmt::format("'{}' [{}K, {}] = {}", tensor.name, tensor.shape.size() == 3 ? "G, " : "", other,
                     shape_text(tensor.shape));
}

void swap_extents(Shape& shape) { std::swap(shape.back(), shape[shape.size() - 2]); }

}  // namespace

TensorFile k_major_file(TensorFile file, OperandOrder order) {
  std::vector<std::string> to_swap;
  if (a_is_k_first(order)) to_swap.push_back("a");
  if (b_is_k_first(order)) to_swap.push_back("b");
  std::string found, names, after(order_name(order));
  for (const std::string& name : to_swap) {
    const Tensor& tensor = file.at(name);
    if (!has_two_extents(tensor.shape)) {
      throw Error(fmt::format("{}: tensor '{}' has shape {}; --layout {} needs two or three dimensions",
                              file.path, name, shape_text(tensor.shape), order_name(order)));
    }
    if (degenerate(tensor.shape)) continue;
    found += (found.empty() ? "" : " and ") + found_text(tensor);
    names += (names.empty() ? "" : ",") + name;
    (name == "a" ? after[0] : after[1]) = name == "a" ? 'n' : 't';
  }
  if (!found.empty()) {
    throw Error(
        fmt::format("{0}: --layout {1} says that K is not contiguous in {2}; needed is K contiguous, because "
                    "{3}: 'fp8twin "
                    "transpose {0} OUT --tensor {4}' puts that in order once, scales included, and 'fp8twin "
                    "gemm OUT --layout {5}' "
                    "takes it",
                    file.path, order_name(order), found, why_k_major, names, after));
  }
  for (Tensor& tensor : file.tensors) {
    for (const std::string& name : to_swap) {
      const bool scale = tensor.name == name + "_scale" && has_two_extents(tensor.shape);
      if (tensor.name == name || (scale && degenerate(tensor.shape))) swap_extents(tensor.shape);
    }
  }
  return file;
}

}  // namespace fp8twin::cli
