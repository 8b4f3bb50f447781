// A floating-point code taken apart: sign, exponent field, fraction field, and the formula with the numbers in it.
#include <fmt/core.h>

#include <array>

#include "emulator/cli/explain.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/number/bf16.hpp"
#include "emulator/number/e4m3.hpp"
#include "emulator/number/e5m2.hpp"
#include "emulator/number/e8m0.hpp"

namespace fp8twin::cli {
namespace {

/// binary32 in the terms of the small formats.
constexpr FloatFormat f32_format{8, 23, 127, 0x7f7fffff, true};

struct Parts {
  std::uint32_t sign, field, fraction;
  const char* kind;           // "zero", "subnormal", "normal", "infinity", "NaN"
  int exponent = 0;           // of a finite value
  std::uint32_t significand;  // integer: |value| = significand * 2^(exponent - fraction bits)
  bool finite;
};

Parts take_apart(const FloatFormat& format, std::uint32_t code) {
  const std::uint32_t magnitude = code & (format.sign() - 1);
  Parts parts{};
  parts.sign = code >> (format.total_bits() - 1);
  parts.field = magnitude >> format.fraction_bits;
  parts.fraction = magnitude & ((1u << format.fraction_bits) - 1);
  parts.exponent = (parts.field ? static_cast<int>(parts.field) : 1) - format.bias;
  parts.significand = parts.fraction | (parts.field ? 1u << format.fraction_bits : 0u);
  parts.finite = magnitude <= format.largest_finite;
  const bool infinite = format.has_infinity && magnitude == format.largest_finite + 1;
  parts.kind = infinite        ? "infinity"
               : !parts.finite ? "NaN"
               : parts.field   ? "normal"
               : magnitude     ? "subnormal"
                               : "zero";
  return parts;
}

std::string exponent_text(const FloatFormat& format, const Parts& parts) {
  const std::string field = fmt::format("{}b = {}", binary(parts.field, format.exponent_bits), parts.field);
  if (!parts.finite) return field;
  if (parts.field) return fmt::format("{}, less the bias {}: {}", field, format.bias, parts.exponent);
  return fmt::format("{}: no hidden one, and the exponent of the smallest normals, 1 - {} = {}", field,
                     format.bias, parts.exponent);
}

std::string significand_text(const FloatFormat& format, const Parts& parts, double significand) {
  return fmt::format("{}.{}b = {}/{} = {}", parts.field ? 1 : 0, binary(parts.fraction, format.fraction_bits),
                     parts.significand, 1u << format.fraction_bits, decimal(significand));
}

std::string value_text(const FloatFormat& format, const Parts& parts, const std::string& formula) {
  if (parts.finite) return formula;
  if (!format.has_infinity) return "NaN: all ones, the only NaN of either sign; this format has no infinity";
  return parts.fraction ? "NaN: exponent all ones, fraction not zero"
                        : "infinity: exponent all ones, fraction zero";
}

/// VALUE as a code, and how a decimal became one.
struct Read {
  std::uint32_t code = 0;
  std::string how;  // lines of text; empty for a bit pattern
  Json input;       // null for a bit pattern
};

/// A bit pattern as it is, a decimal through binary32 and `round`.
template <class Round>
Read read_code(const std::string& kind, const std::string& value, int width, const char* rule,
               const Round& round) {
  const std::string what = "explain " + kind;
  if (is_bit_pattern(value)) return {static_cast<std::uint32_t>(parse_bits(what, value, width)), {}, {}};
  const float x = parse_f32(what, value);
  std::string how =
      line("typed", fmt::format("{}, as binary32 {} = {}", value, hex(f32_bits(x), 8), decimal(x)));
  if (*rule) how += line("rounded", rule);
  return {round(x), how + "\n", {{"bits", hex(f32_bits(x), 8)}, {"value", number(x)}}};
}

Explanation explain_code(const char* name, const FloatFormat& format, const Read& read, float value) {
  const std::uint32_t code = read.code;
  const Parts parts = take_apart(format, code);
  const double significand = static_cast<double>(parts.significand) / (1u << format.fraction_bits);
  const std::string formula = fmt::format("{}{} * 2^{} = {}", parts.sign ? "-" : "", decimal(significand),
                                          parts.exponent, decimal(value));

  Explanation result;
  const std::string bits = hex(code, format.total_bits() / 4);
  result.text = fmt::format("{} {} = {}\n\n", name, bits, decimal(value));
  result.text += read.how;
  result.text += draw_fields(
      code, std::array<BitField, 3>{
                {{"s", 1}, {"exponent", format.exponent_bits}, {"fraction", format.fraction_bits}}});
  result.text += "\n" + line("sign", parts.sign ? "1: negative" : "0: positive");
  result.text += line("exponent", exponent_text(format, parts));
  if (parts.finite) result.text += line("significand", significand_text(format, parts, significand));
  result.text += line("value", value_text(format, parts, formula));

  result.answer = {{"format", name},
                   {"code", bits},
                   {"value", number(value)},
                   {"class", parts.kind},
                   {"sign", parts.sign},
                   {"exponent_field", parts.field},
                   {"fraction", parts.fraction}};
  if (parts.finite) {
    const double spacing = std::ldexp(1.0, parts.exponent - format.fraction_bits);
    result.text += line("spacing", fmt::format("2^({} - {}) = {} to the next value", parts.exponent,
                                               format.fraction_bits, decimal(spacing)));
    result.answer["exponent"] = parts.exponent;
    result.answer["significand"] = parts.significand;
    result.answer["spacing"] = number(spacing);
    result.answer["formula"] = formula;
  }
  if (!read.input.is_null()) result.answer["input"] = read.input;
  return result;
}

}  // namespace

Explanation explain_e4m3(const std::string& value) {
  const Read read = read_code("e4m3", value, 8, "to nearest even, saturating (cvt.rn.satfinite.e4m3x2.f32)",
                              [](float x) { return E4M3::satfinite(x).code; });
  const E4M3 code{static_cast<std::uint8_t>(read.code)};
  Explanation result = explain_code("E4M3", e4m3_format, read, code.value());
  if (!code.is_nan()) {
    result.text += line(
        "tensor core", fmt::format("multiplies it as the integer {} at exponent {}: {} * 2^({} - 3)",
                                   code.significand(), code.exponent(), code.significand(), code.exponent()));
  }
  return result;
}

Explanation explain_e5m2(const std::string& value) {
  const Read read = read_code("e5m2", value, 8, "to nearest even, saturating (cvt.rn.satfinite.e5m2x2.f32)",
                              [](float x) { return E5M2::satfinite(x).code; });
  return explain_code("E5M2", e5m2_format, read, E5M2{static_cast<std::uint8_t>(read.code)}.value());
}

Explanation explain_bf16(const std::string& value) {
  const Read read = read_code("bf16", value, 16, "to nearest even (cvt.rn.bf16.f32)",
                              [](float x) { return BF16::rn(x).code; });
  return explain_code("BF16", bf16_format, read, BF16{static_cast<std::uint16_t>(read.code)}.value());
}

Explanation explain_f32(const std::string& value) {
  const Read read = read_code("f32", value, 32, "", f32_bits);
  return explain_code("binary32", f32_format, read, f32_from_bits(read.code));
}

Explanation explain_e8m0(const std::string& value) {
  const Read read = read_code(
      "e8m0", value, 8,
      "up to a power of two, within 2^-126 to 2^127: a scale must not be smaller than what it was asked for",
      [&](float x) {
        if (x < 0)
          throw Error(fmt::format(
              "explain e8m0: {} is negative; E8M0 has no sign, so a value from 0 up is needed", value));
        return E8M0::round_up(x).code;
      });
  const std::uint32_t code = read.code;
  const E8M0 scale{static_cast<std::uint8_t>(code)};

  Explanation result;
  result.text = fmt::format("E8M0 {} = {}\n\n", hex(code, 2), decimal(scale.value()));
  result.text += read.how;
  result.text += draw_fields(code, std::array<BitField, 1>{{{"exponent", 8}}}) + "\n";
  result.text += line("exponent", fmt::format("{}b = {}, less the bias 127: {}", binary(code, 8), code,
                                              static_cast<int>(code) - 127));
  result.text += line("value", scale.is_nan() ? "NaN: the one code that is not a power of two"
                                              : fmt::format("2^{} = {}", static_cast<int>(code) - 127,
                                                            decimal(scale.value())));
  result.text += line("in memory", fmt::format("as binary32 {}: Hopper takes scales as FP32",
                                               hex(f32_bits(scale.value()), 8)));
  result.answer = {{"format", "E8M0"},
                   {"code", hex(code, 2)},
                   {"value", number(scale.value())},
                   {"class", scale.is_nan() ? "NaN" : "normal"},
                   {"exponent_field", code}};
  if (!scale.is_nan()) result.answer["exponent"] = static_cast<int>(code) - 127;
  if (!read.input.is_null()) result.answer["input"] = read.input;
  return result;
}

}  // namespace fp8twin::cli
