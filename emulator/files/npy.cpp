#include "emulator/files/npy.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "emulator/files/atomic_file.hpp"
#include "emulator/files/file_storage.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header_size = 100'000'000;

struct Descr {
  std::string_view text;
  DType dtype;
};
// The first row of a dtype is the one that is written; codes have none, and are written as U8.
constexpr std::array descrs = {Descr{"|u1", DType::u8}, Descr{"<u2", DType::bf16}, Descr{"<f2", DType::f16},
                               Descr{"<f4", DType::f32}, Descr{"<i4", DType::i32}};

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// Reads the header's Python dictionary: three known keys, a string, a bool and a tuple of integers, and
// nothing else.
class HeaderParser {
 public:
  HeaderParser(std::string path, std::string_view text) : path_(std::move(path)), text_(text) {}

  Header parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !std::exchange(descr, true)) {
        header.descr = string();
      } else if (key == "fortran_order" && !std::exchange(order, true)) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !std::exchange(shape, true)) {
        header.shape = tuple();
      } else {
        throw Error(
            fmt::format("{}: the header has the key {} twice, or no npy file has it", path_, quote(key)));
      }
      if (!accept(',') && peek() != '}') broken();
    }
    skip_space();
    if (at_ != text_.size()) broken();
    if (!descr || !order || !shape) {
      throw Error(fmt::format("{}: the header lacks {}", path_,
                              !descr   ? "descr"
                              : !order ? "fortran_order"
                                       : "shape"));
    }
    return header;
  }

 private:
  [[noreturn]] void broken() const {
    throw Error(
        fmt::format("{}: the header is not the dictionary of an npy file: unexpected at byte {} of {}: {}",
                    path_, at_, text_.size(), quote(text_.substr(at_).substr(0, 20))));
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken();
  }

  std::string string() {
    const char mark = peek();
    if (mark == '[') {
      throw Error(
          fmt::format("{}: descr is a list, a structured type; one of |u1 <u2 <f2 <f4 <i4 is needed", path_));
    }
    if (mark != '\'' && mark != '"') broken();
    const std::size_t end = text_.find(mark, at_ + 1);
    if (end == std::string_view::npos) broken();
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (inside.find('\\') != std::string_view::npos) broken();
    at_ = end + 1;
    return std::string(inside);
  }

  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    broken();
  }

  Shape tuple() {  // (), (3,), (2, 3) or (2, 3,)
    Shape shape;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t extent = 0;
      const char* const first = text_.data() + at_;
      const auto [last, error] = std::from_chars(first, text_.data() + text_.size(), extent);
      if (error == std::errc::invalid_argument) broken();
      if (error != std::errc{}) extent = -1;  // too large for 64 bits: refused with the shape
      shape.push_back(extent);
      at_ += static_cast<std::size_t>(last - first);
      // One extent needs its comma: (3) is a number, not a tuple.
      if (!accept(',') && (peek() != ')' || shape.size() == 1)) broken();
    }
    return shape;
  }

  std::string path_;
  std::string_view text_;
  std::size_t at_ = 0;
};

DType dtype_of(const std::string& path, const std::string& descr) {
  for (const Descr& row : descrs) {
    if (row.text == descr) return row.dtype;
  }
  const bool nameless = descr.size() > 1 && descr[1] == 'V';
  throw Error(fmt::format("{}: dtype {} is not supported; |u1 <u2 <f2 <f4 <i4 are{}", path, quote(descr),
                          nameless ? " (save FP8 as uint8 and BF16 as uint16: numpy's view does it)" : ""));
}

struct Extent {
  std::size_t begin, length;
};

// Where the header's text lies in the file.
Extent find_header(const std::string& path, std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(magic) || file.size() < 10) {
    throw Error(fmt::format(
        "{}: is no npy file: it has {} bytes and does not begin with \\x93NUMPY, version and length", path,
        file.size()));
  }
  const int major = std::to_integer<int>(file[6]), minor = std::to_integer<int>(file[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(fmt::format("{}: is an npy file of version {}.{}; 1.0, 2.0 and 3.0 are supported", path,
                            major, minor));
  }
  const std::size_t begin = major == 1 ? 10 : 12;
  std::uint32_t length = 0;
  if (file.size() >= begin) std::memcpy(&length, file.data() + 8, begin - 8);
  if (file.size() < begin || length > file.size() - begin) {
    throw Error(fmt::format("{}: is truncated: the header should have {} bytes, and the file has {}", path,
                            length, file.size()));
  }
  if (length > max_header_size) {
    throw Error(fmt::format("{}: the header has {} bytes, and at most {} are allowed", path, length,
                            max_header_size));
  }
  return {begin, length};
}

}  // namespace

TensorFile read_npy(const std::string& path) {
  const auto storage = std::make_shared<FileStorage>(path);
  const auto file = storage->map.bytes();
  const Extent text = find_header(path, file);
  const Header header =
      HeaderParser(path, {reinterpret_cast<const char*>(file.data()) + text.begin, text.length}).parse();
  const DType dtype = dtype_of(path, header.descr);
  if (header.fortran_order) {
    throw Error(fmt::format(
        "{}: is stored in Fortran order; C order is needed (numpy.ascontiguousarray makes it)", path));
  }
  const auto count = checked_element_count(header.shape);
  if (!count) {
    throw Error(fmt::format(
        "{}: shape is negative or too large: at most 64 extents and 2^48 elements are allowed", path));
  }
  const auto data = file.subspan(text.begin + text.length);
  const std::size_t needed = static_cast<std::size_t>(*count) * dtype_size(dtype);
  if (data.size() != needed) {
    throw Error(fmt::format("{}: has {} bytes of data, {} for {} {}, which has {}", path, data.size(),
                            data.size() < needed ? "too few" : "too many", header.descr,
                            shape_text(header.shape), needed));
  }
  return {path, {{"data", dtype, header.shape, storage->aligned(data, dtype)}}, {}, storage};
}

std::string npy_header(const Tensor& tensor) {
  std::string_view descr = "|u1";
  for (const Descr& row : descrs) {
    if (row.dtype == tensor.dtype) descr = row.text;
  }
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                   fmt::join(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
  const std::size_t before = magic.size() + 2 + 2;
  header.resize((before + header.size() + 1 + 63) / 64 * 64 - before, ' ');
  header.back() = '\n';
  const auto length = static_cast<std::uint16_t>(header.size());  // at most 64 extents: far below 65,536
  std::string start(magic);
  start.append(
      {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)});  // version 1, 0
  return start + header;
}

void write_npy(const std::string& path, const Tensor& tensor) {
  const std::string header = npy_header(tensor);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(header)));
  file.write(tensor.bytes);
  file.commit();
}

}  // namespace fp8twin
