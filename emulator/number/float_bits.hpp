// binary32 as bits: the few constants and casts that every other number header leans on.
//
//     31 30      23 22                   0
//    [ s | exponent |      fraction       ]     value = (-1)^s * 1.fraction * 2^(exponent - 127)
//
// NaN policy. An FP32 instruction of SM90 (FADD, FMUL, FFMA) returns 0x7FFFFFFF for every NaN result, whatever
// its operands' sign and payload. FFMA: recorded in tests/golden/gemm; FADD: in tests/golden/reduce.json; FMUL: measured on an
// H200 earlier, not recorded here (docs/numerics.md). An x86 FMA keeps payload and sign, so every FP32 result of
// this project that stands for a GPU's goes through canonical().
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace fp8twin {

inline constexpr std::uint32_t f32_sign = 0x80000000u;
inline constexpr std::uint32_t f32_infinity = 0x7f800000u;
// What SM90's FP32 pipe and tensor core return.
inline constexpr std::uint32_t f32_canonical_nan = 0x7fffffffu;

constexpr std::uint32_t f32_bits(float x) { return std::bit_cast<std::uint32_t>(x); }
constexpr float f32_from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

constexpr bool is_nan(float x) { return (f32_bits(x) & ~f32_sign) > f32_infinity; }
constexpr bool is_infinite(float x) { return (f32_bits(x) & ~f32_sign) == f32_infinity; }

/// x, or SM90's one NaN if x is any NaN.
constexpr float canonical(float x) { return is_nan(x) ? f32_from_bits(f32_canonical_nan) : x; }

/// 2^e exactly, for -149 <= e <= 127.
constexpr float power_of_two(int e) {
  return f32_from_bits(e >= -126 ? static_cast<std::uint32_t>(e + 127) << 23 : 1u << (e + 149));
}

/// mul.rn.f32 of SM90: one rounding, canonical NaN, subnormals kept.
constexpr float mul_rn(float a, float b) { return canonical(a * b); }

/// add.rn.f32 of SM90.
constexpr float add_rn(float a, float b) { return canonical(a + b); }

/// fma.rn.f32 of SM90: a*b + c with one rounding.
inline float fma_rn(float a, float b, float c) { return canonical(std::fma(a, b, c)); }

}  // namespace fp8twin
