#include "emulator/files/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/files/atomic_file.hpp"
#include "emulator/files/file_storage.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/files/strict_json.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

using Json = nlohmann::json;

constexpr std::size_t length_size = 8;
constexpr std::size_t max_header_size = 100'000'000;
constexpr int max_header_depth = 3;  // {tensors {tensor [shape]}}
constexpr char metadata_key[] = "__metadata__";

// --- reading -----------------------------------------------------------------------------------------------

// The JSON between the length and the tensors' bytes.
std::string_view header_text(const std::string& path, std::span<const std::byte> file) {
  if (file.size() < length_size) {
    throw Error(fmt::format("{}: has {} bytes; a safetensors file begins with an 8-byte header length", path,
                            file.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), length_size);
  if (length > max_header_size) {
    throw Error(
        fmt::format("{}: is no safetensors file: its first 8 bytes say that the header has {} bytes, and at "
                    "most {} are allowed",
                    path, length, max_header_size));
  }
  if (length > file.size() - length_size) {
    throw Error(fmt::format("{}: is truncated: the header should have {} bytes, and {} follow its length",
                            path, length, file.size() - length_size));
  }
  return {reinterpret_cast<const char*>(file.data()) + length_size, static_cast<std::size_t>(length)};
}

// One tensor's entry in the header, checked by itself. Its messages begin with `where`, the file and the
// tensor.
struct Entry {
  std::string where;
  DType dtype = DType::u8;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // offsets from the end of the header

  Entry(std::string where_text, const Json& json) : where(std::move(where_text)) {
    if (!json.is_object())
      throw Error(fmt::format("{} is described by {}, not by an object", where, json.type_name()));
    read_dtype(field(json, "dtype"));
    read_shape(field(json, "shape"));
    read_offsets(field(json, "data_offsets"));
  }

  const Json& field(const Json& json, const char* name) const {
    const auto found = json.find(name);
    if (found == json.end()) throw Error(fmt::format("{} has no {}", where, name));
    return *found;
  }

  void read_dtype(const Json& json) {
    if (!json.is_string()) throw Error(fmt::format("{}: dtype is not a string", where));
    const auto& name = json.get_ref<const std::string&>();
    const auto known = dtype_from_name(name);
    if (!known) {
      throw Error(fmt::format(
          "{}: dtype {} is not supported; F8_E4M3, F8_E5M2, F8_E8M0, BF16, F16, F32, I32 and U8 are", where,
          quote(name)));
    }
    dtype = *known;
  }

  void read_shape(const Json& json) {
    if (!json.is_array()) throw Error(fmt::format("{}: shape is not a list", where));
    for (const Json& extent : json) {
      if (!extent.is_number_unsigned()) {
        throw Error(
            fmt::format("{}: shape has the extent {}; integers from 0 on are needed", where, brief(extent)));
      }
      // A value beyond int64 turns negative, and is refused as too large just the same.
      shape.push_back(static_cast<std::int64_t>(extent.get<std::uint64_t>()));
    }
    if (!checked_element_count(shape)) {
      throw Error(fmt::format("{}: shape {} is too large: at most 64 extents and 2^48 elements are allowed",
                              where, brief(json)));
    }
  }

  void read_offsets(const Json& json) {
    if (!json.is_array() || json.size() != 2 || !json[0].is_number_unsigned() ||
        !json[1].is_number_unsigned()) {
      throw Error(fmt::format("{}: data_offsets {} are not two integers from 0 on", where, brief(json)));
    }
    begin = json[0].get<std::uint64_t>();
    end = json[1].get<std::uint64_t>();
    if (begin > end) throw Error(fmt::format("{}: data_offsets [{}, {}] run backwards", where, begin, end));
    const std::uint64_t needed = static_cast<std::uint64_t>(element_count(shape)) * dtype_size(dtype);
    if (end - begin != needed) {
      throw Error(fmt::format("{}: data_offsets [{}, {}] span {} bytes, and {} {} has {}", where, begin, end,
                              end - begin, dtype_name(dtype), shape_text(shape), needed));
    }
  }

  static std::string brief(const Json& json) {
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= 80 ? text : text.substr(0, 80) + "...";
  }
};

Metadata read_metadata(const std::string& path, const Json& json) {
  if (!json.is_object()) throw Error(fmt::format("{}: {} is not an object", path, metadata_key));
  Metadata metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      throw Error(fmt::format("{}: {} holds {} for {}; only strings are allowed", path, metadata_key,
                              value.type_name(), quote(key)));
    }
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

// Entries in the order of their bytes must cover [0, size) without overlap or hole.
void check_cover(const std::string& path, const std::vector<std::pair<std::string, Entry>>& entries,
                 std::uint64_t size) {
  std::uint64_t covered = 0;
  for (const auto& [name, entry] : entries) {
    if (entry.end > size) {
      throw Error(fmt::format("{} ends at byte {} of the data, and the file has {}; is it truncated?",
                              entry.where, entry.end, size));
    }
    if (entry.begin < covered) {
      throw Error(fmt::format("{} begins at byte {} and overlaps the tensor before it, which ends at {}",
                              entry.where, entry.begin, covered));
    }
    if (entry.begin > covered) {
      throw Error(fmt::format("{} begins at byte {} and leaves a hole after byte {}", entry.where,
                              entry.begin, covered));
    }
    covered = entry.end;
  }
  if (covered != size) {
    throw Error(
        fmt::format("{}: has {} bytes after the last tensor, where none may be", path, size - covered));
  }
}

// --- writing -----------------------------------------------------------------------------------------------

// A tensor's name as JSON; other programs must be able to find it again, so what is not UTF-8 is refused.
std::string name_json(const std::string& path, const std::string& name) {
  try {
    return Json(name).dump();
  } catch (const Json::type_error&) {
    throw Error(fmt::format("{}: the tensor name {} is not UTF-8", path, quote(name)));
  }
}

std::string header_json(const std::string& path, const std::vector<const Tensor*>& tensors,
                        const Metadata& metadata) {
  std::string text = "{";
  std::set<std::string_view> names{metadata_key};
  if (!metadata.empty()) {  // it may quote a file name that is not UTF-8
    text += fmt::format("\"{}\":{}", metadata_key,
                        Json(metadata).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  std::size_t begin = 0;
  for (const Tensor* tensor : tensors) {
    if (!names.insert(tensor->name).second) {
      throw Error(
          fmt::format("{}: a tensor cannot be called {}: the name is taken", path, quote(tensor->name)));
    }
    const std::size_t end = begin + static_cast<std::size_t>(tensor->elements()) * dtype_size(tensor->dtype);
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        text.size() > 1 ? "," : "", name_json(path, tensor->name), dtype_name(tensor->dtype),
                        fmt::join(tensor->shape, ","), begin, end);
    begin = end;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > max_header_size) {
    throw Error(fmt::format("{}: the header would have {} bytes, and at most {} are allowed", path,
                            text.size(), max_header_size));
  }
  return text;
}

}  // namespace

TensorFile read_safetensors(const std::string& path) {
  const auto storage = std::make_shared<FileStorage>(path);
  const auto file = storage->map.bytes();
  const std::string_view text = header_text(path, file);
  const auto data = file.subspan(length_size + text.size());

  const Json header = parse_strict_json(text, path + ": the header", max_header_depth);
  if (!header.is_object()) throw Error(fmt::format("{}: the header is not a JSON object", path));
  TensorFile result;
  result.path = path;
  std::vector<std::pair<std::string, Entry>> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == metadata_key) {
      result.metadata = read_metadata(path, json);
    } else {
      entries.emplace_back(name, Entry(fmt::format("{}: tensor {}", path, quote(name)), json));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& x, const auto& y) {
    return std::pair(x.second.begin, x.second.end) < std::pair(y.second.begin, y.second.end);
  });
  check_cover(path, entries, data.size());

  for (auto& [name, entry] : entries) {
    const auto bytes = data.subspan(entry.begin, entry.end - entry.begin);
    result.tensors.push_back(
        {name, entry.dtype, std::move(entry.shape), storage->aligned(bytes, entry.dtype)});
  }
  result.storage = storage;
  return result;
}

std::string safetensors_header(const std::string& path, const std::vector<const Tensor*>& tensors,
                               const Metadata& metadata) {
  const std::string json = header_json(path, tensors, metadata);
  const std::uint64_t length = json.size();
  std::string header(length_size, '\0');
  std::memcpy(header.data(), &length, length_size);
  return header + json;
}

void write_safetensors(const std::string& path, std::span<const Tensor> tensors, const Metadata& metadata) {
  std::vector<const Tensor*> ordered;
  for (const Tensor& tensor : tensors) ordered.push_back(&tensor);
  std::stable_sort(ordered.begin(), ordered.end(), [](const Tensor* x, const Tensor* y) {
    return dtype_size(x->dtype) > dtype_size(y->dtype);
  });
  const std::string header = safetensors_header(path, ordered, metadata);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(header)));
  for (const Tensor* tensor : ordered) file.write(tensor->bytes);
  file.commit();
}

}  // namespace fp8twin
