#include "emulator/cli/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace fp8twin::cli {
namespace {

constexpr int label_width = 15;

template <class Float>
std::string decimal_of(Float x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  char digits[800];  // a double has at most 767 significant digits
  std::snprintf(digits, sizeof digits, "%.767g", static_cast<double>(x));
  const std::string exact = digits;
  return exact.size() <= 40 ? exact : fmt::format("about {}", x);
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::string draw_fields(std::uint64_t bits, std::span<const BitField> fields) {
  int high = 0;
  for (const BitField& field : fields) high += field.width;
  std::string ranges, digits, names;
  for (const BitField& field : fields) {
    const int low = high - field.width;
    const std::string range =
        field.width == 1 ? fmt::format("{}", low) : fmt::format("{}..{}", high - 1, low);
    const std::string value = binary(bits >> low, field.width);
    const std::size_t width = std::max({range.size(), value.size(), field.name.size()});
    ranges += fmt::format("{:<{}}   ", range, width);
    digits += fmt::format("{:<{}}   ", value, width);
    names += fmt::format("{:<{}}   ", field.name, width);
    high = low;
  }
  return line("bits", ranges) + line("", digits) + line("", names);
}

std::string line(std::string_view label, std::string_view text) {
  return without_trailing_blanks(fmt::format("  {:<{}} {}", label, label_width, text)) + "\n";
}

std::string table(std::span<const TableRow> rows) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    std::string cells;
    for (std::size_t i = 0; i < row.size(); ++i) cells += fmt::format("  {:<{}}", row[i], widths[i]);
    text += without_trailing_blanks(std::move(cells)) + "\n";
  }
  return text;
}

std::string binary(std::uint64_t value, int width) {
  std::string digits;
  for (int bit = width - 1; bit >= 0; --bit) digits += (value >> bit) & 1 ? '1' : '0';
  return digits;
}

const char* swizzle_name(SwizzleMode mode) {
  switch (mode) {
    case SwizzleMode::b128:
      return "128B";
    case SwizzleMode::b64:
      return "64B";
    case SwizzleMode::b32:
      return "32B";
    case SwizzleMode::none:
      break;
  }
  return "none";
}

std::string decimal(double x) { return decimal_of(x); }
std::string decimal(float x) { return decimal_of(x); }

}  // namespace fp8twin::cli
