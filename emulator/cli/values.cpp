#include "emulator/cli/values.hpp"

#include <fmt/core.h>

#include <cctype>
#include <charconv>
#include <cstdlib>

#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

/// std::from_chars over the whole text.
template <class Integer>
std::errc read_whole(std::string_view text, Integer& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc() && end != text.data() + text.size()) return std::errc::invalid_argument;
  return error;
}

std::string range_text(std::int64_t low, std::int64_t high) {
  return high == any_size ? fmt::format("from {} up", low) : fmt::format("from {} to {}", low, high);
}

}  // namespace

std::int64_t parse_integer(std::string_view what, const std::string& text, std::int64_t low,
                           std::int64_t high) {
  std::int64_t value = 0;
  const std::errc error = read_whole(text, value);
  if (error == std::errc::result_out_of_range) {
    throw Error(fmt::format("{}: {} does not fit in 64 bits; an integer {} is needed", what, text,
                            range_text(low, high)));
  }
  if (error != std::errc()) {
    throw Error(fmt::format("{}: '{}' is not a decimal integer; one {} is needed", what, text,
                            range_text(low, high)));
  }
  if (value < low || value > high) {
    throw Error(
        fmt::format("{}: {} is out of range; an integer {} is needed", what, text, range_text(low, high)));
  }
  return value;
}

std::uint64_t parse_unsigned(std::string_view what, const std::string& text) {
  std::uint64_t value = 0;
  if (read_whole(text, value) != std::errc()) {
    throw Error(fmt::format("{}: found '{}'; a decimal integer from 0 to {} is needed", what, text,
                            std::numeric_limits<std::uint64_t>::max()));
  }
  return value;
}

std::vector<std::int64_t> parse_integers(std::string_view what, const std::string& text, std::int64_t low) {
  std::vector<std::int64_t> values;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    values.push_back(parse_integer(what, text.substr(start, comma - start), low, any_size));
    start = comma + 1;
  }
  return values;
}

float parse_f32(std::string_view what, const std::string& text) {
  // strtof rounds once and correctly, and turns overflow into infinity, underflow into a subnormal or zero. It
  // would also skip leading blanks, read hexadecimal floats and nan(...): none of them is a decimal.
  const bool blank = text.empty() || std::isspace(static_cast<unsigned char>(text.front()));
  const bool foreign = text.find_first_of("xX(") != std::string::npos;
  char* end = nullptr;
  const float value = std::strtof(text.c_str(), &end);
  if (blank || foreign || end != text.c_str() + text.size()) {
    throw Error(fmt::format("{}: '{}' is not a number; a decimal like 464 or -1.5e-3, inf or nan is needed",
                            what, text));
  }
  return value;
}

bool is_bit_pattern(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

std::uint64_t parse_bits(std::string_view what, const std::string& text, int width) {
  std::uint64_t bits = 0;
  const std::errc error = is_bit_pattern(text) ? read_whole(std::string_view(text).substr(2), bits, 16)
                                               : std::errc::invalid_argument;
  if (error == std::errc::invalid_argument) {
    throw Error(fmt::format("{}: '{}' is not a bit pattern; 0x and up to {} hexadecimal digits are needed",
                            what, text, width / 4));
  }
  if (error != std::errc() || (width < 64 && bits >> width)) {
    throw Error(fmt::format("{}: {} has more than {} bits; a pattern up to 0x{:x} is needed", what, text,
                            width, width < 64 ? (1ull << width) - 1 : ~0ull));
  }
  return bits;
}

CLI::Option* add_integer(CLI::App* command, const std::string& name, std::int64_t& value,
                         const std::string& description, std::int64_t low, std::int64_t high) {
  const std::string what = name.substr(name.rfind(',') + 1);
  return command
      ->add_option_function<std::string>(
          name,
          [&value, what, low, high](const std::string& text) {
            value = parse_integer(what, text, low, high);
          },
          description)
      ->type_name("INT");
}

CLI::Option* add_simd(CLI::App* command, Simd& simd) {
  return command
      ->add_option_function<std::string>(
          "--simd",
          [&simd](const std::string& text) {
            try {
              simd = simd_from_name(text);
            } catch (const Error& error) {
              throw Error(std::string("--simd: ") + error.what());
            }
          },
          "the CPU's vector instructions to compute with, the same bits with all: auto (default, the fastest "
          "here), "
          "portable, avx2 "
          "or avx512")
      ->type_name("NAME");
}

}  // namespace fp8twin::cli
