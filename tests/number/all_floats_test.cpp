// Every conversion to a small format, over all 2^32 binary32 words.
//
// Between two neighbouring midpoints of a format the right code does not change, and the bit patterns of
// positive floats are in the order of their values. So the oracle needs no rounding here: it hands out whole
// ranges of bit patterns, each with the one code that all of them must get.
#include <atomic>
#include <cstdint>
#include <vector>

#include "emulator/number/bf16.hpp"
#include "emulator/number/e4m3.hpp"
#include "emulator/number/e4m3_fast.hpp"
#include "emulator/number/e5m2.hpp"
#include "emulator/number/f16.hpp"
#include "emulator/number/quantize_path.hpp"
#include "emulator/support/parallel.hpp"
#include "emulator/support/simd.hpp"
#include "tests/catch.hpp"
#include "tests/number/nearest_oracle.hpp"

using namespace fp8twin;

namespace {

struct Range {
  std::uint32_t first, last;  // bit patterns without sign, both inclusive
  std::uint32_t magnitude;
};

/// The ranges that cover [0, infinity]; `overflow` is the code of what rounds beyond the largest finite
/// value.
std::vector<Range> ranges_of(const test::NearestOracle& oracle, std::uint32_t overflow) {
  std::vector<Range> ranges;
  std::uint32_t first = 0;
  for (std::uint32_t code = 0; code <= oracle.largest(); ++code) {
    const std::uint32_t middle = f32_bits(static_cast<float>(oracle.midpoint(code)));
    const std::uint32_t last = code % 2 == 0 ? middle : middle - 1;  // a tie belongs to the even code
    ranges.push_back({first, last, code});
    first = last + 1;
  }
  ranges.push_back({first, f32_infinity, overflow});
  // Cut the long ranges (small formats have few) so that threads share them.
  std::vector<Range> pieces;
  for (const Range& range : ranges) {
    for (std::uint64_t from = range.first; from <= range.last; from += 1u << 22) {
      const auto to = std::min<std::uint64_t>(from + (1u << 22) - 1, range.last);
      pieces.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), range.magnitude});
    }
  }
  return pieces;
}

/// How many words `encode` gets wrong, of both signs; a NaN must give `nan` or, with its sign set,
/// `minus_nan`.
template <class Encode>
std::uint64_t mismatches(const test::NearestOracle& oracle, std::uint32_t overflow, std::uint32_t sign,
                         std::uint32_t nan, std::uint32_t minus_nan, const Encode& encode) {
  const std::vector<Range> ranges = ranges_of(oracle, overflow);
  std::atomic<std::uint64_t> words{0}, wrong{0};
  const auto check = [&](std::uint32_t first, std::uint32_t last, std::uint32_t plus, std::uint32_t minus) {
    std::uint64_t bad = 0;
    for (std::uint32_t bits = first;; ++bits) {
      bad += encode(f32_from_bits(bits)) != plus;
      bad += encode(f32_from_bits(bits | f32_sign)) != minus;
      if (bits == last) break;
    }
    wrong += bad;
    words += 2 * (std::uint64_t{last} - first + 1);
  };
  parallel_for(static_cast<std::int64_t>(ranges.size()), 0, [&](std::int64_t i, int) {
    const Range& range = ranges[static_cast<std::size_t>(i)];
    check(range.first, range.last, range.magnitude, range.magnitude | sign);
  });
  check(f32_infinity + 1, 0x7fffffff, nan, minus_nan);
  CHECK(words.load() == std::uint64_t{1} << 32);  // every word was met once
  return wrong.load();
}

}  // namespace

TEST_CASE("e4m3, saturating: all 2^32 floats") {
  CHECK(mismatches(test::e4m3_oracle(), 0x7e, 0x80, 0x7f, 0x7f,
                   [](float x) { return E4M3::satfinite(x).code; }) == 0);
}

TEST_CASE("e4m3, not saturating: all 2^32 floats") {
  CHECK(mismatches(test::e4m3_oracle(), 0x7f, 0x80, 0x7f, 0xff,
                   [](float x) { return E4M3::nonsaturating(x, NanSign::keep).code; }) == 0);
}

TEST_CASE("e4m3 without branches, under every cast: all 2^32 floats") {
  CHECK(mismatches(test::e4m3_oracle(), 0x7e, 0x80, 0x7f, 0x7f,
                   [](float x) { return encode_e4m3(x, cast_satfinite); }) == 0);
  CHECK(mismatches(test::e4m3_oracle(), 0x7f, 0x80, 0x7f, 0x7f,
                   [](float x) { return encode_e4m3(x, cast_nonsaturating); }) == 0);
  CHECK(mismatches(test::e4m3_oracle(), 0x7e, 0x80, 0xfe, 0xfe,
                   [](float x) { return encode_e4m3(x, cast_clamped); }) == 0);
}

TEST_CASE("the loops of every path cast as e4m3 without branches: all 2^32 floats") {
  constexpr std::size_t size = 1 << 16;
  constexpr auto count = static_cast<std::int64_t>(size);
  for (const Simd simd : simd_here()) {
    const QuantizeLoops& loops = quantize_path(simd).f32;
    for (const E4M3Cast cast : {cast_satfinite, cast_nonsaturating, cast_clamped}) {
      std::atomic<std::uint64_t> wrong{0};
      parallel_for(1 << 16, 0, [&](std::int64_t high, int) {
        std::vector<float> x(size);
        for (std::uint32_t low = 0; low < size; ++low) {
          x[low] = f32_from_bits(static_cast<std::uint32_t>(high) << 16 | low);
        }
        std::vector<std::uint8_t> codes(size);
        const auto check = [&](bool special) {
          const BlockFactor factor{1.0f, special};
          loops.encode(x.data(), {1, count, count, count}, {false, cast.largest, cast.nan}, &factor,
                       codes.data());
          std::uint64_t bad = 0;
          for (std::size_t i = 0; i < size; ++i) bad += codes[i] != encode_e4m3(x[i], cast);
          wrong += bad;
        };
        check(true);
        if ((high & 0x7fff) < f32_bits(464.0f) >> 16) check(false);  // the loop for blocks without such words
      });
      INFO(simd_name(simd) << ", largest " << int{cast.largest} << ", NaN " << int{cast.nan});
      CHECK(wrong.load() == 0);
    }
  }
}

TEST_CASE("e5m2, saturating: all 2^32 floats") {
  CHECK(mismatches(test::e5m2_oracle(), 0x7b, 0x80, 0x7f, 0x7f,
                   [](float x) { return E5M2::satfinite(x).code; }) == 0);
}

TEST_CASE("e5m2, not saturating: all 2^32 floats") {
  CHECK(mismatches(test::e5m2_oracle(), 0x7c, 0x80, 0x7f, 0xff,
                   [](float x) { return E5M2::nonsaturating(x, NanSign::keep).code; }) == 0);
}

TEST_CASE("bf16: all 2^32 floats") {
  CHECK(mismatches(test::bf16_oracle(), 0x7f80, 0x8000, 0x7fff, 0x7fff,
                   [](float x) { return BF16::rn(x).code; }) == 0);
}

TEST_CASE("f16: all 2^32 floats") {
  CHECK(mismatches(test::f16_oracle(), 0x7c00, 0x8000, 0x7fff, 0x7fff,
                   [](float x) { return F16::rn(x).code; }) == 0);
}
