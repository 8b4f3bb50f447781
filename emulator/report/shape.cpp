#include "emulator/report/shape.hpp"

#include <fmt/core.h>

#include <charconv>

#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

constexpr int most_brackets = 16;
constexpr std::int64_t most_elements = std::int64_t{1} << 62;

/// Reads a tree of integers from `text`, as extents; the strides follow in a second reading of the same tree.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  ShapeMode read() {
    ShapeMode mode = shape(0);
    expect(':');
    strides(mode);
    if (at_ != text_.size()) fail("its end");
    std::int64_t last = 0, count = 1;
    measure(mode, last, count);
    return mode;
  }

 private:
  [[noreturn]] void fail(const std::string& needed) const {
    const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_)) : "its end";
    throw Error(
        fmt::format("shape:stride '{}': found {} after {} characters; {} is needed, as in (64,32):(32,1)",
                    text_, found, at_, needed));
  }

  bool next(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!next(c)) fail(fmt::format("'{}'", c));
  }

  std::int64_t number(std::int64_t low) {
    std::int64_t value = -1;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < low || value > most_elements)
      fail(fmt::format("an integer from {} to 2^62", low));
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  ShapeMode shape(int depth) {
    ShapeMode mode;
    if (!next('(')) {
      mode.extent = number(1);
      return mode;
    }
    if (depth == most_brackets) fail(fmt::format("at most {} brackets within each other", most_brackets));
    do {
      mode.parts.push_back(shape(depth + 1));
    } while (next(','));
    expect(')');
    return mode;
  }

  void strides(ShapeMode& mode) {
    if (mode.parts.empty()) {
      mode.stride = number(0);
      return;
    }
    expect('(');
    for (std::size_t i = 0; i < mode.parts.size(); ++i) {
      if (i) expect(',');
      strides(mode.parts[i]);
    }
    expect(')');
  }

  /// Adds up the last element and multiplies the extents, within 2^62.
  void measure(const ShapeMode& mode, std::int64_t& last, std::int64_t& count) const {
    for (const ShapeMode& part : mode.parts) measure(part, last, count);
    if (!mode.parts.empty()) return;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(mode.extent - 1, mode.stride, &reach) ||
        __builtin_add_overflow(last, reach, &last) || __builtin_mul_overflow(count, mode.extent, &count) ||
        last > most_elements || count > most_elements) {
      throw Error(fmt::format("shape:stride '{}': has elements past 2^62; needed is a smaller one", text_));
    }
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

std::string tree(const ShapeMode& mode, std::int64_t ShapeMode::*leaf) {
  if (mode.parts.empty()) return fmt::format("{}", mode.*leaf);
  std::string parts;
  for (const ShapeMode& part : mode.parts) parts.append(parts.empty() ? "" : ",").append(tree(part, leaf));
  return fmt::format("({})", parts);
}

}  // namespace

ShapeMode parse_shape_stride(const std::string& text) { return Reader(text).read(); }

std::string to_string(const ShapeMode& mode) {
  return tree(mode, &ShapeMode::extent) + ":" + tree(mode, &ShapeMode::stride);
}

std::int64_t size(const ShapeMode& mode) {
  std::int64_t count = mode.extent;
  for (const ShapeMode& part : mode.parts) count *= size(part);
  return count;
}

std::int64_t offset(const ShapeMode& mode, std::int64_t index) {
  if (mode.parts.empty()) return index * mode.stride;
  std::int64_t sum = 0;
  for (const ShapeMode& part : mode.parts) {
    const std::int64_t count = size(part);
    sum += offset(part, index % count);
    index /= count;
  }
  return sum;
}

std::int64_t offset(const ShapeMode& mode, std::span<const std::int64_t> indices) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < mode.parts.size(); ++i) sum += offset(mode.parts[i], indices[i]);
  return sum;
}

}  // namespace fp8twin
