#include "emulator/files/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "emulator/files/npy.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/files/safetensors.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

constexpr std::array dtype_rows = {
    DTypeRow{DType::f8_e4m3, "F8_E4M3", 1}, DTypeRow{DType::f8_e5m2, "F8_E5M2", 1},
    DTypeRow{DType::f8_e8m0, "F8_E8M0", 1}, DTypeRow{DType::bf16, "BF16", 2},
    DTypeRow{DType::f16, "F16", 2},         DTypeRow{DType::f32, "F32", 4},
    DTypeRow{DType::i32, "I32", 4},         DTypeRow{DType::u8, "U8", 1},
};

// row_of() goes by position.
static_assert([] {
  for (std::size_t i = 0; i < dtype_rows.size(); ++i) {
    if (dtype_rows[i].dtype != static_cast<DType>(i)) return false;
  }
  return true;
}());

const DTypeRow& row_of(DType dtype) { return dtype_rows[static_cast<std::size_t>(dtype)]; }

bool is_npy(std::string_view path) { return path.ends_with(".npy"); }

}  // namespace

std::string_view dtype_name(DType dtype) { return row_of(dtype).name; }
std::size_t dtype_size(DType dtype) { return row_of(dtype).size; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeRow& row : dtype_rows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::optional<std::int64_t> checked_element_count(const Shape& shape) {
  if (shape.size() > max_rank) return std::nullopt;
  std::int64_t of_nonzero =
      1;  // so that [2^40, 2^40, 0] is refused too: a part of a shape is multiplied as well
  for (const std::int64_t extent : shape) {
    if (extent < 0 || extent > max_elements) return std::nullopt;
    if (extent > 0 && of_nonzero > max_elements / extent) return std::nullopt;
    of_nonzero *= std::max<std::int64_t>(extent, 1);
  }
  return element_count(shape);
}

const Tensor* TensorFile::find(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

const Tensor& TensorFile::at(std::string_view name) const {
  if (const Tensor* tensor = find(name)) return *tensor;
  std::vector<std::string_view> held;
  for (const Tensor& tensor : tensors) held.push_back(tensor.name);
  throw Error(fmt::format("{}: holds no tensor {}; it holds {}", path, quote(name), list_names(held)));
}

std::string list_names(std::span<const std::string_view> names) {
  constexpr std::size_t shown = 8;
  if (names.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) text += (i ? ", " : "") + quote(names[i]);
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

TensorFile read_tensor_file(const std::string& path) {
  return is_npy(path) ? read_npy(path) : read_safetensors(path);
}

std::string tensor_file_header(const std::string& path, const Tensor& tensor, const Metadata& metadata) {
  return is_npy(path) ? npy_header(tensor) : safetensors_header(path, {&tensor}, metadata);
}

void write_tensor_file(const std::string& path, std::span<const Tensor> tensors, const Metadata& metadata) {
  for (const Tensor& tensor : tensors) {
    const auto count = checked_element_count(tensor.shape);
    if (!count || static_cast<std::size_t>(*count) * dtype_size(tensor.dtype) != tensor.bytes.size()) {
      throw Error(fmt::format("{}: tensor {}, {} {}, cannot be written from {} bytes", path,
                              quote(tensor.name), dtype_name(tensor.dtype), shape_text(tensor.shape),
                              tensor.bytes.size()));
    }
  }
  if (!is_npy(path)) return write_safetensors(path, tensors, metadata);
  if (tensors.size() != 1) {
    throw Error(
        fmt::format("{}: a .npy file holds exactly one tensor, not {}; name the file .safetensors instead",
                    path, tensors.size()));
  }
  write_npy(path, tensors.front());
}

}  // namespace fp8twin
