#include "emulator/number/quantize.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

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
              int threads = 2) {
  Quantized out{std::vector<std::uint8_t>(index(grid.elements())), std::vector<float>(index(grid.scales()))};
  quantize(recipe, format, grid, x, out.codes, out.scales, threads);
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
        compare_with_oracle(recipe, format, grid, x, input_max,
                            run(recipe, format, grid, std::span<const T>(typed)));
      }
    }
  }
}

}  // namespace

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

TEST_CASE("the number of threads does not show") {
  const BlockGrid grid(3, 333, 700, block_1x128);
  const std::vector<std::uint32_t> words = draw<std::uint32_t>(grid, 8, 23, 11);
  std::vector<float> x(words.size());
  std::memcpy(x.data(), words.data(), 4 * words.size());
  const Recipe& recipe = recipe_from_name("vllm");
  CHECK(run(recipe, ScaleFormat::f32, grid, std::span<const float>(x), 1) ==
        run(recipe, ScaleFormat::f32, grid, std::span<const float>(x), 5));
}

TEST_CASE("dequantising multiplies each code by its block's scale, rounded once, NaN canonical") {
  const BlockGrid grid(2, 130, 300, block_128x128);
  std::vector<std::uint8_t> codes;
  for (std::int64_t i = 0; i < grid.elements(); ++i)
    codes.push_back(static_cast<std::uint8_t>(Random(3, 0).bits(static_cast<std::uint64_t>(i))));
  std::vector<float> scales{0.1f, -3.7e-5f, 0x1p-149f, 3e38f, INFINITY, NAN,
                            0.0f, 1.0f / 3, 1e-40f,    7.5f,  -0.0f,    1e-38f};
  REQUIRE(scales.size() == index(grid.scales()));
  std::vector<float> wide(codes.size());
  std::vector<BF16> narrow(codes.size());
  dequantize(grid, codes, scales, wide, 2);
  dequantize(grid, codes, scales, narrow, 2);
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
