// A counter-based random generator: value number i of stream s under a seed is a pure function of (seed, s, i).
//
// No state, so threads may draw in any order, and no floating point, so every machine draws the same bytes.
// Two rounds of a 64-bit finaliser (xor-shift, multiply by an odd constant) over the seed, the stream and the
// counter; each round is a bijection, so distinct counters never collide within a stream.
#pragma once

#include <cstdint>

namespace fp8twin {

struct Random {
  std::uint64_t key = 0;

  constexpr Random(std::uint64_t seed, std::uint64_t stream)
      : key(mix(mix(seed) + 0x9e3779b97f4a7c15u * (stream + 1))) {}

  /// 64 random bits, the i-th of this stream.
  constexpr std::uint64_t bits(std::uint64_t i) const { return mix(mix(i + key) ^ key); }

  /// An integer in [0, bound), bound <= 2^32, by multiply and shift; the bias is below bound / 2^32.
  constexpr std::uint32_t below(std::uint64_t i, std::uint64_t bound) const {
    return static_cast<std::uint32_t>(((bits(i) >> 32) * bound) >> 32);
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
};

}  // namespace fp8twin
