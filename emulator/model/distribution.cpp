#include "emulator/model/distribution.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <string>

#include "emulator/number/e4m3.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"
#include "emulator/support/random.hpp"

namespace fp8twin {
namespace {

struct Named {
  Distribution distribution;
  std::string_view name;
};

constexpr std::array<Named, 14> names{{{Distribution::uniform, "uniform"},
                                       {Distribution::uniform_nan, "uniform-nan"},
                                       {Distribution::exponents_4_11, "exponents-4-11"},
                                       {Distribution::sparse, "sparse"},
                                       {Distribution::subnormal, "subnormal"},
                                       {Distribution::row_exponent, "row-exponent"},
                                       {Distribution::any_c, "any-c"},
                                       {Distribution::wide_c, "wide-c"},
                                       {Distribution::extremes, "extremes"},
                                       {Distribution::normal, "normal"},
                                       {Distribution::zeros, "zeros"},
                                       {Distribution::rare_subnormal, "rare-subnormal"},
                                       {Distribution::ones, "ones"},
                                       {Distribution::adversarial, "adversarial"}}};

constexpr auto listed = [] {
  std::array<Distribution, names.size()> all{};
  for (std::size_t i = 0; i < names.size(); ++i) all[i] = names[i].distribution;
  return all;
}();

/// Draw number `i` of a value, cut into independent fields.
struct Draw {
  std::uint64_t bits;
  std::uint32_t field(int shift,
                      std::uint32_t bound) const {  // 16 random bits scaled to [0, bound), bound <= 2^16
    return static_cast<std::uint32_t>(((bits >> shift) & 0xffff) * bound >> 16);
  }
};

/// A code from sign, exponent field and fraction; 0x7f and 0xff, the NaN codes, become +-448.
std::uint8_t finite_code(std::uint32_t sign, std::uint32_t exponent, std::uint32_t fraction) {
  const std::uint32_t magnitude = exponent << 3 | fraction;
  return static_cast<std::uint8_t>(sign << 7 | (magnitude == 0x7f ? 0x7e : magnitude));
}

/// Bell-shaped around zero: four 16-bit uniforms summed, which has a standard deviation of about 2^15.2, in units of 2^-15.
std::uint8_t normal_code(std::uint64_t bits) {
  std::int32_t sum = -2 * 65535;
  for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int32_t>((bits >> shift) & 0xffff);
  // Quantised activations fill E4M3 up to 448, so the bell is stretched by 2^7: three deviations lie near 440.
  return E4M3::satfinite(static_cast<float>(sum) * 0x1p-8f).code;
}

std::uint8_t code(Distribution distribution, Draw draw, std::uint32_t row_exponent) {
  const std::uint32_t sign = draw.field(0, 2), exponent = draw.field(16, 16), fraction = draw.field(32, 8);
  switch (distribution) {
    case Distribution::uniform_nan:
      return static_cast<std::uint8_t>(draw.field(0, 256));
    case Distribution::exponents_4_11:
      return finite_code(sign, 4 + exponent / 2, fraction);
    case Distribution::sparse:
      return draw.field(48, 8) ? static_cast<std::uint8_t>(sign << 7) : finite_code(sign, exponent, fraction);
    case Distribution::subnormal:
      return finite_code(sign, 0, fraction);
    case Distribution::row_exponent:
      return finite_code(sign, row_exponent, fraction);
    case Distribution::extremes:
      return finite_code(sign, exponent < 12 ? exponent / 3 : 15, fraction);
    case Distribution::normal:
      return normal_code(draw.bits);
    case Distribution::zeros:
      return static_cast<std::uint8_t>(sign << 7);
    case Distribution::rare_subnormal:
      return finite_code(sign, 0, draw.field(48, 32) ? 0 : fraction);
    case Distribution::ones:
      return 0x38;
    case Distribution::adversarial:
      return draw.field(48, 4096) ? finite_code(sign, exponent, fraction)
                                  : static_cast<std::uint8_t>(0x7f | sign << 7);
    default:
      return finite_code(sign, exponent, fraction);
  }
}

/// +-2^e with e in [low, high] and a fraction of 23 random bits, the low `clear` of them zero.
float spread(Draw draw, int low, int high, int clear, bool either_sign) {
  const std::uint32_t e =
      static_cast<std::uint32_t>(low + 127) + draw.field(0, static_cast<std::uint32_t>(high - low + 1));
  const std::uint32_t fraction = static_cast<std::uint32_t>(draw.bits >> 32) & 0x7fffff;
  const std::uint32_t sign = either_sign && (draw.bits >> 16 & 1) ? f32_sign : 0;
  return f32_from_bits(sign | e << 23 | (fraction >> clear << clear));
}

float c_value(Distribution distribution, Draw draw) {
  switch (distribution) {
    case Distribution::ones:
      return 0.0f;
    case Distribution::any_c:
    case Distribution::zeros:
      return f32_from_bits(static_cast<std::uint32_t>(draw.bits));
    case Distribution::subnormal:
      return spread(draw, -24, -5, 0, true);
    case Distribution::wide_c:
      return spread(draw, -20, 24, 0, true);
    case Distribution::rare_subnormal: {  // any pattern up to 1.0, subnormals as likely as each binade
      const std::uint32_t magnitude =
          draw.field(0, 127) << 23 | (static_cast<std::uint32_t>(draw.bits >> 32) & 0x7fffff);
      return f32_from_bits((draw.bits >> 16 & 1 ? f32_sign : 0) | magnitude);
    }
    default:
      if ((draw.bits >> 17 & 3) == 0) return 0.0f;
      return spread(draw, -16, 23, draw.bits >> 19 & 1 ? 10 : 0, true);
  }
}

float scale_value(Distribution distribution, Draw draw) {
  if (distribution == Distribution::ones) return 1.0f;
  if (distribution != Distribution::adversarial) return spread(draw, -12, -4, 0, false);
  switch (draw.field(48, 16)) {
    case 0:
      return 0.0f;
    case 1:
      return f32_from_bits(static_cast<std::uint32_t>(draw.bits) & 0x7fffff);  // subnormal
    case 2:
      return spread(draw, 120, 127, 0, true);  // huge
    case 3:
      return spread(draw, -126, -110, 0, true);  // tiny
    case 4:
      return f32_from_bits(static_cast<std::uint32_t>(draw.bits));  // anything
    case 5:
      return f32_from_bits(f32_infinity | (draw.bits & 1 ? f32_sign : 0));
    case 6:
      return f32_from_bits(0x7f800001u | (static_cast<std::uint32_t>(draw.bits) & 0x807fffff));  // NaN
    default:
      return spread(draw, -30, 30, 0, true);  // wide, half of them negative
  }
}

}  // namespace

std::span<const Distribution> all_distributions() { return listed; }

std::string_view distribution_name(Distribution distribution) {
  for (const Named& each : names) {
    if (each.distribution == distribution) return each.name;
  }
  return "";
}

Distribution distribution_from_name(std::string_view name) {
  std::array<std::string_view, names.size()> known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].name == name) return names[i].distribution;
    known[i] = names[i].name;
  }
  throw Error(
      fmt::format("there is no distribution '{}'; needed is one of {}", name, fmt::join(known, ", ")));
}

void fill_codes(Distribution distribution, std::uint64_t seed, Operand operand, std::int64_t k,
                std::span<std::uint8_t> codes, int threads) {
  if (codes.empty()) return;
  const Random random(seed, static_cast<std::uint64_t>(operand));
  const Random rows(seed, static_cast<std::uint64_t>(operand) + 16);
  const auto depth = static_cast<std::uint64_t>(k);
  parallel_for(static_cast<std::int64_t>(codes.size() / depth), threads, [&](std::int64_t index, int) {
    const auto row = static_cast<std::uint64_t>(index);
    const std::uint32_t row_exponent = rows.below(row, 16);
    for (std::uint64_t i = row * depth; i < (row + 1) * depth; ++i)
      codes[i] = code(distribution, {random.bits(i)}, row_exponent);
  });
}

void fill_c(Distribution distribution, std::uint64_t seed, std::span<float> c) {
  const Random random(seed, static_cast<std::uint64_t>(Operand::c));
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = c_value(distribution, {random.bits(i)});
}

void fill_scales(Distribution distribution, std::uint64_t seed, Operand operand, std::span<float> scales) {
  const Random random(seed, static_cast<std::uint64_t>(operand));
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = scale_value(distribution, {random.bits(i)});
}

}  // namespace fp8twin
