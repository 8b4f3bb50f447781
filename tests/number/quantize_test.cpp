#include "emulator/number/quantize.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "emulator/number/e4m3.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/random.hpp"
#include "tests/catch.hpp"
#include "tests/number/recipe_oracle.hpp"

using namespace fp8twin;

namespace {

constexpr std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Quantized {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;
  friend bool operator==(const Quantized& a, const Quantized& b) {
    return a.codes == b.codes && a.scales.size() == b.scales.size() &&
           std::memcmp(a.scales.data(), b.scales.data(), 4 * a.scales.size()) == 0;
  }
};

Quantized run(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x,
              int threads = 2, Simd simd = best_simd()) {
  Quantized out{std::vector<std::uint8_t>(index(grid.elements())), std::vector<float>(index(grid.scales()))};
  quantize(recipe, format, grid, x, out.codes, out.scales, threads, simd);
  return out;
}

bool same_float(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

/// Gathers every block of x by the definition of scale_index, quantises it with the oracle, and compares all.
void compare_with_oracle(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid,
                         const std::vector<float>& x, float input_max, const Quantized& found) {
  std::vector<std::vector<std::int64_t>> members(index(grid.scales()));
  for (std::int64_t expert = 0; expert < grid.experts; ++expert) {
    for (std::int64_t row = 0; row < grid.rows; ++row) {
      for (std::int64_t column = 0; column < grid.columns; ++column) {
        members[index(grid.scale_index(expert, row, column))].push_back(
            (expert * grid.rows + row) * grid.columns + column);
      }
    }
  }
  for (std::size_t b = 0; b < members.size(); ++b) {
    std::vector<float> block;
    for (const std::int64_t at : members[b]) block.push_back(x[index(at)]);
    const test::Block wanted =
        test::quantize_block(recipe.name, format == ScaleFormat::ue8m0, block, input_max);
    INFO(recipe.name << " " << scale_format_name(format) << " block " << b << " scale " << found.scales[b]);
    REQUIRE(same_float(found.scales[b], wanted.scale));
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (found.codes[index(members[b][i])] != wanted.codes[i]) {
        FAIL("x " << block[i] << ": code " << int{found.codes[index(members[b][i])]} << ", oracle "
                  << int{wanted.codes[i]});
      }
    }
  }
}

/// Words whose blocks differ in kind, by the block's number: plain, wide, subnormal, zeros, any bits, with
/// NaN, with infinities, NaN only, near the top.
template <class Word>
std::vector<Word> draw(const BlockGrid& grid, std::uint32_t exponent_bits, std::uint32_t fraction_bits,
                       std::uint64_t seed) {
  const Random random(seed, 1), kinds(seed, 2);
  const std::uint32_t top = (1u << exponent_bits) - 1, fraction_mask = (1u << fraction_bits) - 1;
  const std::uint32_t sign_shift = exponent_bits + fraction_bits;
  std::vector<Word> words;
  for (std::int64_t i = 0; i < grid.elements(); ++i) {
    const std::int64_t row = i / grid.columns;
    const std::int64_t scale = grid.scale_index(row / grid.rows, row % grid.rows, i % grid.columns);
    const std::uint64_t bits = random.bits(static_cast<std::uint64_t>(i));
    const auto pick = static_cast<std::uint32_t>(bits >> 40);
    const std::uint32_t middle =
        1 + kinds.below(static_cast<std::uint64_t>(scale), top - 8);  // the block's exponent
    std::uint32_t exponent = middle + pick % 6, fraction = static_cast<std::uint32_t>(bits) & fraction_mask;
    switch (scale % 10) {
      case 3:
        exponent = pick % top;
        break;
      case 4:
        exponent = 0;
        break;
      case 5:
        exponent = fraction = 0;
        break;
      case 6:
        exponent = pick % (top + 1);
        break;
      case 7:
        if (pick % 64 == 0) exponent = top, fraction |= 1;
        break;
      case 8:
        if (pick % 32 == 0) exponent = top, fraction = 0;
        break;
      case 9:
        exponent = scale % 20 == 9 ? top : top - 1, fraction |= scale % 20 == 9;
        break;
      default:
        break;
    }
    words.push_back(
        static_cast<Word>((bits >> 63) << sign_shift | std::uint64_t{exponent} << fraction_bits | fraction));
  }
  return words;
}

template <class T, class Word>
void check_format(std::uint32_t exponent_bits, std::uint32_t fraction_bits, float input_max,
                  float (*value)(Word)) {
  const BlockGrid grids[] = {BlockGrid(1, 40, 448, block_1x128), BlockGrid(2, 200, 300, block_128x128),
                             BlockGrid(3, 64, 130, block_128x128), BlockGrid(1, 1, 1, block_128x128)};
  for (const BlockGrid& grid : grids) {
    const std::vector<Word> words = draw<Word>(grid, exponent_bits, fraction_bits, 7);
    std::vector<float> x;
    std::vector<T> typed(words.size());
    static_assert(sizeof(T) == sizeof(Word));
    std::memcpy(static_cast<void*>(typed.data()), words.data(), sizeof(Word) * words.size());
    for (const Word word : words) x.push_back(value(word));
    for (const Recipe& recipe : all_recipes()) {
      for (const ScaleFormat format : {ScaleFormat::f32, ScaleFormat::ue8m0}) {
        const Quantized portable = run(recipe, format, grid, std::span<const T>(typed), 2, Simd::portable);
        compare_with_oracle(recipe, format, grid, x, input_max, portable);
        for (const Simd simd : simd_here()) {
          INFO(simd_name(simd));
          REQUIRE(run(recipe, format, grid, std::span<const T>(typed), 3, simd) == portable);
        }
      }
    }
  }
}

/// The definition, from the readable conversion: amax, the recipe's scale, one cast.
std::uint8_t cast_by(float quotient, E4M3Cast cast) {
  if (cast.largest == 0x7f) return E4M3::nonsaturating(quotient).code;
  return is_nan(quotient) ? cast.nan : E4M3::satfinite(quotient).code;
}

template <class T>
Quantized by_definition(const Recipe& recipe, ScaleFormat format, const std::vector<T>& x, float input_max,
                        float (*value)(T)) {
  Quantized out;
  for (std::size_t begin = 0; begin < x.size(); begin += 128) {
    const std::size_t end = std::min(begin + 128, x.size());
    float amax = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const float size = std::fabs(value(x[i]));
      if (is_nan(size) && recipe.amax_nan == AmaxNan::propagate) amax = size;
      if (size > amax) amax = size;  // false once amax is NaN
    }
    const BlockScale by = block_scale(recipe, format, amax, input_max);
    out.scales.push_back(by.scale);
    for (std::size_t i = begin; i < end; ++i) {
      const float v = value(x[i]);
      out.codes.push_back(cast_by(by.divide ? v / by.factor : v * by.factor, recipe.cast));
    }
  }
  return out;
}

/// x as one row in blocks of 128, under every recipe and scale format, on every path.
template <class T>
void check_by_definition(const std::vector<T>& x, float input_max, float (*value)(T)) {
  const BlockGrid grid(1, 1, static_cast<std::int64_t>(x.size()), block_1x128);
  for (const Recipe& recipe : all_recipes()) {
    for (const ScaleFormat format : {ScaleFormat::f32, ScaleFormat::ue8m0}) {
      const Quantized wanted = by_definition(recipe, format, x, input_max, value);
      for (const Simd simd : simd_here()) {
        INFO(recipe.name << " " << scale_format_name(format) << " " << simd_name(simd));
        REQUIRE(run(recipe, format, grid, std::span<const T>(x), 1, simd) == wanted);
      }
    }
  }
}

/// All 65536 words: in order, whose blocks are of one binade; far apart, so that nearly every block has a NaN and an
/// infinity; and far apart without those. The last block is ragged.
template <class T>
void check_all_words(float input_max) {
  std::vector<T> in_order, mixed, finite;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    in_order.push_back({static_cast<std::uint16_t>(i)});
    mixed.push_back({static_cast<std::uint16_t>(i * 40503u)});
    if (std::isfinite(mixed.back().value())) finite.push_back(mixed.back());
  }
  mixed.pop_back();
  finite.resize(finite.size() - 77);
  const auto value = [](T x) { return x.value(); };
  for (const auto& x : {in_order, mixed, finite}) check_by_definition<T>(x, input_max, value);
}

}  // namespace

TEST_CASE("all BF16 words, under every recipe, on every path") { check_all_words<BF16>(0x1.fep127f); }
TEST_CASE("all F16 words, under every recipe, on every path") { check_all_words<F16>(65504.0f); }

TEST_CASE("random binary32 words, and blocks of any length, on every path") {
  const auto value = [](float x) { return x; };
  const Random random(21, 0);
  for (std::int64_t length = 1; length <= 270; length = length < 140 ? length + 1 : length + 43) {
    std::vector<float> any, tame, tiny;
    for (std::int64_t i = 0; i < length; ++i) {
      const auto bits =
          static_cast<std::uint32_t>(random.bits(static_cast<std::uint64_t>(1000 * length + i)));
      any.push_back(f32_from_bits(bits));
      tame.push_back(f32_from_bits((bits & 0x83ffffff) | 0x3c000000));
      tiny.push_back(f32_from_bits(bits & 0x807fffff));  // subnormals
    }
    for (const auto& x : {any, tame, tiny}) {
      check_by_definition<float>(x, std::numeric_limits<float>::max(), value);
    }
  }
}

TEST_CASE("BF16 input: every recipe and scale format agrees with the formulas written out") {
  check_format<BF16, std::uint16_t>(8, 7, 0x1.fep127f, [](std::uint16_t word) {
    const std::uint32_t wide = std::uint32_t{word} << 16;
    float x;
    std::memcpy(&x, &wide, 4);
    return x;
  });
}

TEST_CASE("F16 input: every recipe and scale format agrees with the formulas written out") {
  check_format<F16, std::uint16_t>(5, 10, 65504.0f, [](std::uint16_t word) {
    const int exponent = word >> 10 & 31, fraction = word & 1023;
    const double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return static_cast<float>(word >> 15 ? -size : size);
  });
}

TEST_CASE("F32 input: every recipe and scale format agrees with the formulas written out") {
  check_format<float, std::uint32_t>(8, 23, std::numeric_limits<float>::max(), [](std::uint32_t word) {
    float x;
    std::memcpy(&x, &word, 4);
    return x;
  });
}

TEST_CASE("the numbers of the measured page: codes and scales of whole blocks") {
  std::vector<float> x(128, 0.0f);
  x[5] = -6.5f;
  x[77] = 2.4375f;
  const BlockGrid grid(1, 1, 128, block_1x128);
  const auto code = [&](std::string_view recipe) {
    return int{run(recipe_from_name(recipe), ScaleFormat::f32, grid, std::span<const float>(x)).codes[77]};
  };
  CHECK(code("deepgemm") == 0x72);
  CHECK(code("deepgemm-cpu") == 0x73);
  CHECK(code("vllm") == 0x72);
  CHECK(code("te") == 0x73);
}

TEST_CASE("a partial block's scale is its own, and experts share none") {
  const BlockGrid grid(2, 64, 448, block_128x128);
  std::vector<float> x(index(grid.elements()), 1.0f);
  x[index(0 * 64 * 448 + 63 * 448 + 447)] = 448.0f;  // expert 0, last row, block 3
  x[index(1 * 64 * 448 + 0 * 448 + 0)] = 896.0f;     // expert 1, first row, block 0
  const Quantized out =
      run(recipe_from_name("deepgemm-cpu"), ScaleFormat::f32, grid, std::span<const float>(x));
  const float one = 1.0f / 448.0f;
  CHECK(out.scales == std::vector<float>{one, one, one, 1.0f, 2.0f, one, one, one});
  CHECK(out.codes[index(383)] == 0x7e);  // 1 under scale 1/448
  CHECK(out.codes[index(384)] == 0x38);  // 1 under scale 1
}

TEST_CASE("neither the number of threads nor the path shows") {
  const BlockGrid grid(3, 333, 700, block_1x128);
  const std::vector<std::uint32_t> words = draw<std::uint32_t>(grid, 8, 23, 11);
  std::vector<float> x(words.size());
  std::memcpy(x.data(), words.data(), 4 * words.size());
  for (const char* name : {"vllm", "deepgemm"}) {
    const Recipe& recipe = recipe_from_name(name);
    const Quantized one = run(recipe, ScaleFormat::f32, grid, std::span<const float>(x), 1, Simd::portable);
    for (const Simd simd : simd_here()) {
      for (const int threads : {1, 2, 7}) {
        CHECK(run(recipe, ScaleFormat::f32, grid, std::span<const float>(x), threads, simd) == one);
      }
    }
  }
}

TEST_CASE("dequantising multiplies each code by its block's scale, rounded once, NaN canonical") {
  const BlockGrid grid(2, 130, 300, block_128x128);
  std::vector<std::uint8_t> codes;
  for (std::int64_t i = 0; i < grid.elements(); ++i)
    codes.push_back(static_cast<std::uint8_t>(Random(3, 0).bits(static_cast<std::uint64_t>(i))));
  std::vector<float> scales{0.1f, -3.7e-5f, 0x1p-149f, 3e38f, INFINITY, NAN,
                            0.0f, 1.0f / 3, 1e-40f,    7.5f,  -0.0f,    1e-38f};
  REQUIRE(scales.size() == index(grid.scales()));
  const Simd simd = GENERATE(from_range(simd_here()));
  CAPTURE(simd_name(simd));
  std::vector<float> wide(codes.size());
  std::vector<BF16> narrow(codes.size());
  dequantize(grid, codes, scales, wide, 2, simd);
  dequantize(grid, codes, scales, narrow, 2, simd);
  for (std::int64_t i = 0; i < grid.elements(); ++i) {
    const std::int64_t row = i / 300;
    const float scale = scales[index(grid.scale_index(row / 130, row % 130, i % 300))];
    const std::uint32_t magnitude = codes[index(i)] & 0x7fu;
    const double size = magnitude == 0x7f ? NAN : test::e4m3_oracle().value(magnitude);
    const double exact =
        (codes[index(i)] & 0x80 ? -size : size) * static_cast<double>(scale);  // 4 + 24 bits: exact
    const auto wanted = static_cast<float>(exact);
    std::uint32_t wanted_bits;
    std::memcpy(&wanted_bits, &wanted, 4);
    if (std::isnan(wanted)) wanted_bits = 0x7fffffff;
    REQUIRE(f32_bits(wide[index(i)]) == wanted_bits);
    REQUIRE(narrow[index(i)].code ==
            (std::isnan(wanted) ? 0x7fffu : test::bf16_oracle().round(static_cast<double>(wanted))));
  }
}

TEST_CASE("a power-of-two scale loses nothing that E4M3 can hold") {
  // With codes 0..0x7e as the block and s a power of two, quantising gives the codes back.
  std::vector<float> x;
  for (std::uint32_t code = 0; code < 128; ++code) {
    const double value = code == 127 ? 0.0 : test::e4m3_oracle().value(code);
    x.push_back(static_cast<float>(value / 64));
  }
  const BlockGrid grid(1, 1, 128, block_1x128);
  for (const Recipe& recipe : all_recipes()) {
    const Quantized out = run(recipe, ScaleFormat::ue8m0, grid, std::span<const float>(x));
    CHECK(out.scales[0] == 1.0f / 64);
    for (std::uint32_t code = 0; code < 127; ++code) CHECK(out.codes[code] == code);
  }
}

TEST_CASE("spans of the wrong size are refused with a sentence; empty arrays are not") {
  const BlockGrid grid(1, 2, 130, block_1x128);
  std::vector<float> x(260), scales(3);
  std::vector<std::uint8_t> codes(260);
  try {
    quantize(recipe_from_name("deepgemm"), ScaleFormat::f32, grid, std::span<const float>(x), codes, scales,
             1);
    FAIL("3 scales were accepted for 4 blocks");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "quantize: scales: 3 elements were given, the block grid needs 4");
  }
  CHECK_THROWS_AS(dequantize(grid, codes, scales, std::span<float>(x), 1), Error);
  for (const auto& [rows, columns] : {std::pair{0, 130}, std::pair{130, 0}}) {
    const BlockGrid empty(1, rows, columns, block_128x128);
    CHECK(run(all_recipes()[0], ScaleFormat::f32, empty, std::span<const float>()).scales.empty());
  }
}
