// Named input distributions: what `random` draws and what the captures on hardware were run over.
//
// Twelve of them are those of docs/numerics.md, chosen so that each rule of the tensor core's sum (alignment, truncation,
// pinned subnormals, zeros that raise no exponent, C that does) decides many outputs. All are integer steps on a
// counter-based generator: same seed, same bytes, on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fp8twin {

enum class Distribution {
  uniform,         // 1  every finite code alike
  uniform_nan,     // 2  every code alike, NaN included
  exponents_4_11,  // 3  exponent fields 4 to 11
  sparse,          // 4  one operand in eight is not zero
  subnormal,       // 5  subnormal codes only; C 2^-24 to 2^-5
  row_exponent,    // 6  one exponent field for each row
  any_c,           // 7  uniform codes, C any 32 bits: NaN, infinity, subnormal
  wide_c,          // 8  uniform codes, C 2^-20 to 2^24 with 24-bit significands
  extremes,        // 9  exponent fields 0 to 3, or 15
  normal,          // 10 bell-shaped around zero
  zeros,           // 11 zeros of both signs, C any 32 bits
  rare_subnormal,  // 12 rare subnormals among zeros, C from subnormal to one
  ones,            //    every code 1.0, scales 1, C zero
  adversarial,  //    uniform codes with rare NaN; scales wide, subnormal, huge, zero, negative, NaN, infinite
};

std::span<const Distribution> all_distributions();
std::string_view distribution_name(Distribution distribution);
/// Throws Error that lists the names.
Distribution distribution_from_name(std::string_view name);

enum class Operand : std::uint64_t { a = 1, b = 2, c = 3, a_scale = 4, b_scale = 5 };

/// E4M3 codes [rows, k], row-major; the same for any number of threads.
void fill_codes(Distribution distribution, std::uint64_t seed, Operand operand, std::int64_t k,
                std::span<std::uint8_t> codes, int threads = 0);
/// The accumulator C as the distribution describes it.
void fill_c(Distribution distribution, std::uint64_t seed, std::span<float> c);
/// Block scales: positive, 24-bit significands, 2^-12 to 2^-4, unless the distribution says otherwise.
void fill_scales(Distribution distribution, std::uint64_t seed, Operand operand, std::span<float> scales);

}  // namespace fp8twin
