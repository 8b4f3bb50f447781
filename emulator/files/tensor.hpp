// A tensor as files hold it: name, element type, shape, and a view of its little-endian, row-major bytes.
//
// A Tensor never owns its bytes; a TensorFile (a memory map) or a vector of the caller does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fp8twin {

// g++ takes a scoped enumerator for a shadow of a global type of that name (emulator/layout/integers.hpp).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class DType { f8_e4m3, f8_e5m2, f8_e8m0, bf16, f16, f32, i32, u8 };
#pragma GCC diagnostic pop

/// The safetensors name, "F8_E4M3" and so on.
std::string_view dtype_name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
/// Bytes of one element: 1, 2 or 4.
std::size_t dtype_size(DType dtype);

using Shape = std::vector<std::int64_t>;

/// "[64, 128]", as error messages and tables print it.
std::string shape_text(const Shape& shape);
/// The product of the extents (1 for a scalar's empty shape).
std::int64_t element_count(const Shape& shape);

// A header may claim any extents. What a reader lets through is small enough for the products and round-ups
// that others compute from a shape, zero-sized ones included, to stay far from overflow.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 48;
inline constexpr std::size_t max_rank = 64;  // NumPy's limit too
/// element_count, or nothing when an extent is negative or the shape is beyond these limits.
std::optional<std::int64_t> checked_element_count(const Shape& shape);

struct Tensor {
  std::string name;
  DType dtype = DType::u8;
  Shape shape;
  std::span<const std::byte> bytes;

  std::int64_t elements() const { return element_count(shape); }

  /// The elements as T; T must have the size of the dtype. The bytes must be aligned for T: every loader here
  /// returns aligned bytes.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// A Tensor over the caller's array.
template <class T>
Tensor tensor_of(std::string name, DType dtype, Shape shape, std::span<const T> values) {
  return {std::move(name), dtype, std::move(shape), std::as_bytes(values)};
}

/// `"a", "b" and 3 more`, as error messages list what a file holds.
std::string list_names(std::span<const std::string_view> names);

using Metadata = std::map<std::string, std::string>;

/// The tensors of one opened file, valid as long as the object (or a copy of it) lives.
struct TensorFile {
  std::string path;
  std::vector<Tensor> tensors;  // in the order of their bytes
  Metadata metadata;
  std::shared_ptr<const void> storage;  // the memory map, or a buffer where bytes had to be realigned

  const Tensor* find(std::string_view name) const;
  /// The tensor called `name`, or an Error that lists what the file holds.
  const Tensor& at(std::string_view name) const;
};

/// Opens a .safetensors or .npy file by memory map (the suffix decides; a .npy's one tensor is called
/// "data"). Throws Error with one sentence when the file cannot be read or its header is wrong.
TensorFile read_tensor_file(const std::string& path);

/// What the file `path` holds before the bytes of its one tensor, which are not looked at: for whoever writes them
/// in pieces. A path ending in .npy takes no metadata.
std::string tensor_file_header(const std::string& path, const Tensor& tensor, const Metadata& metadata);

/// Writes `tensors` to `path`, whole or not at all: into a file beside it, then renamed. A path ending in
/// .npy takes exactly one tensor and no metadata.
void write_tensor_file(const std::string& path, std::span<const Tensor> tensors, const Metadata& metadata);

}  // namespace fp8twin
