// The sum of two binary32 numbers in integers, apart from every floating-point unit: an oracle for reductions.
//
//   x + y, |x's exponent| the larger:   x = sig << 32        56 bits; y is shifted right by the difference, and what falls
//                                       y = sig << 32 >> d   off leaves a one in the last bit
//   their integer sum, rounded once to 24 bits (fewer below 2^-126), nearest, ties to even
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin::capture {

inline constexpr u32 oracle_nan = 0x7fffffff;

constexpr bool oracle_is_nan(u32 x) { return (x & 0x7fffffff) > 0x7f800000; }

/// A number below the normal ones becomes a zero of its sign.
constexpr u32 flushed(u32 x) { return (x & 0x7f800000) == 0 ? x & 0x80000000 : x; }

/// The significand, 32 bits further up.
constexpr u64 widened(u32 x) {
  return static_cast<u64>((x & 0x7fffff) | (x & 0x7f800000 ? 0x800000u : 0u)) << 32;
}

constexpr i32 field_of(u32 x) {
  const i32 field = static_cast<i32>(x >> 23 & 0xff);
  return field == 0 ? 1 : field;
}

/// `magnitude`, not 0, in units of 2^(field - 182), as the bits of |sum|.
constexpr u32 rounded(u64 magnitude, i32 field) {
  i32 top = 63;
  while (!(magnitude >> top)) --top;
  const i32 result = field + top - 55;                   // the sum's field, were it normal
  const i32 drop = result >= 1 ? top - 23 : 33 - field;  // bits below the last one that the sum can have
  u64 kept = drop > 0 ? magnitude >> drop : magnitude << -drop;
  if (drop > 0) {
    const u64 rest = magnitude & ((u64{1} << drop) - 1), half = u64{1} << (drop - 1);
    if (rest > half || (rest == half && kept % 2 == 1)) ++kept;
  }
  if (result >= 255) return 0x7f800000;
  const u32 bits = static_cast<u32>(kept) + (result >= 1 ? static_cast<u32>(result - 1) << 23 : 0);
  return bits < 0x7f800000 ? bits : 0x7f800000;
}

/// memory + value. `rule`: what is flushed, as reduce_records.hpp numbers it.
constexpr u32 oracle_sum(u32 memory, u32 value, u32 rule) {
  if (oracle_is_nan(memory) || oracle_is_nan(value)) return oracle_nan;
  if (rule & 1) memory = flushed(memory);
  if (rule & 2) value = flushed(value);
  const bool memory_infinite = (memory & 0x7fffffff) == 0x7f800000,
             value_infinite = (value & 0x7fffffff) == 0x7f800000;
  if (memory_infinite && value_infinite) return memory == value ? memory : oracle_nan;
  if (memory_infinite) return memory;
  if (value_infinite) return value;
  const bool swap = field_of(value) > field_of(memory);
  const u32 x = swap ? value : memory, y = swap ? memory : value;
  const i32 apart = field_of(x) - field_of(y);
  const u64 wide = widened(y);
  u64 moved = wide != 0;
  if (apart < 57) moved = wide >> apart | ((wide >> apart << apart) != wide);
  const i64 p = x >> 31 ? -static_cast<i64>(widened(x)) : static_cast<i64>(widened(x));
  const i64 q = y >> 31 ? -static_cast<i64>(moved) : static_cast<i64>(moved);
  const i64 sum = p + q;
  if (sum == 0) return memory & value & 0x80000000;  // -0 only where both are negative
  const u32 sign = sum < 0 ? 0x80000000u : 0u;
  const u32 bits = sign | rounded(static_cast<u64>(sum < 0 ? -sum : sum), field_of(x));
  return rule & 4 ? flushed(bits) : bits;
}

}  // namespace fp8twin::capture
