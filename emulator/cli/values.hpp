// Numbers as people type them, read strictly: a whole word or a sentence that says what was found and needed.
//
// Two rules hold in every command. An integer is decimal digits with an optional minus: not 1e3, not 0x10, no overflow
// that wraps. A float is a decimal rounded once to binary32 (1e60 is inf, 1e-50 is 0), or the words inf and nan; where
// bit patterns are allowed, 0x says so.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/support/simd.hpp"

namespace fp8twin::cli {

inline constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();

/// `what` names the option or argument in the message. Throws Error.
std::int64_t parse_integer(std::string_view what, const std::string& text, std::int64_t low,
                           std::int64_t high);
std::uint64_t parse_unsigned(std::string_view what, const std::string& text);
/// "200,0,56,192"
std::vector<std::int64_t> parse_integers(std::string_view what, const std::string& text, std::int64_t low);

/// A decimal, inf or nan as binary32, rounded to nearest even once.
float parse_f32(std::string_view what, const std::string& text);

bool is_bit_pattern(std::string_view text);  // starts with 0x or 0X
/// "0x7e" as an integer below 2^width.
std::uint64_t parse_bits(std::string_view what, const std::string& text, int width);

/// An option that takes one integer in [low, high], checked by parse_integer.
CLI::Option* add_integer(CLI::App* command, const std::string& name, std::int64_t& value,
                         const std::string& description, std::int64_t low = 0, std::int64_t high = any_size);

/// --simd, a path of support/simd.hpp by name; every path gives the same bits. The default, auto, is the fastest here.
CLI::Option* add_simd(CLI::App* command, Simd& simd);

}  // namespace fp8twin::cli
