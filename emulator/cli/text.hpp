// Small pieces of text that explain: bit fields in a row, exact decimals, labelled lines, names.
//
//     bits   7   6..3       2..0           draw_fields(0x7e, {{"s", 1}, {"exponent", 4}, {"fraction", 3}})
//            0   1111       110
//            s   exponent   fraction
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/layout/swizzle.hpp"

namespace fp8twin::cli {

struct BitField {
  std::string_view name;
  int width;
};

/// Three lines; `fields` from the most significant bit down.
std::string draw_fields(std::uint64_t bits, std::span<const BitField> fields);

/// "  label      text\n"
std::string line(std::string_view label, std::string_view text);

/// Rows of equal length in aligned columns, the first row a heading.
using TableRow = std::vector<std::string>;
std::string table(std::span<const TableRow> rows);

/// The lowest `width` bits of `value` as binary digits.
std::string binary(std::uint64_t value, int width);

/// "128B", "64B", "32B", "none"
const char* swizzle_name(SwizzleMode mode);

/// Every digit of x where that takes at most 40, else the shortest decimal that reads back as x, after "about".
/// "NaN", "inf", "-inf", "-0".
std::string decimal(double x);
std::string decimal(float x);

}  // namespace fp8twin::cli
