// The vector paths' step against the readable dot(), bit for bit: every pair of codes, every distribution, every alignment.
#include "emulator/number/lanes/lanes.hpp"

#include <cmath>
#include <memory>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/number/tensor_core.hpp"
#include "emulator/support/simd.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

constexpr int rows = 5;  // one left over, however many a path does at once

/// Codes of A and B for one step, and C; what a path makes of them, next to what dot() does.
struct Step {
  std::vector<std::uint8_t> a = std::vector<std::uint8_t>(rows * step_depth);
  std::vector<std::uint8_t> b = std::vector<std::uint8_t>(step_columns * step_depth);
  alignas(64) float c[rows][step_columns] = {};

  void fill(Distribution distribution, std::uint64_t seed) {
    fill_codes(distribution, seed, Operand::a, step_depth, a);
    fill_codes(distribution, seed, Operand::b, step_depth, b);
    fill_c(distribution, seed, std::span(&c[0][0], rows * step_columns));
    // What the caller takes care of.
    for (std::vector<std::uint8_t>* codes : {&a, &b}) {
      for (std::uint8_t& code : *codes) code = (code & 0x7f) == 0x7f ? 0x80 : code;
    }
    for (auto& row : c) {
      for (float& x : row) x = std::abs(x) < max_step_c ? x : 0.0f;
    }
  }

  int mismatches(Simd simd, const TensorCore& core) {
    const StepFunctions& path = *step_functions(simd);
    const auto columns = std::make_unique<ColumnGroup>();
    std::vector<RowGroup> row_groups(rows);
    alignas(64) float chain[rows][step_columns];
    std::copy_n(&c[0][0], rows * step_columns, &chain[0][0]);
    path.load_rows(a.data(), step_depth, rows, core.group, row_groups.data());
    path.load_columns(b.data(), step_depth, step_columns, core.group, *columns);
    path.step({core.group, core.fraction_bits}, row_groups.data(), rows, *columns, &chain[0][0]);
    int wrong = 0;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < step_columns; ++j) {
        wrong += f32_bits(chain[i][j]) != f32_bits(dot(core, &a[index(i)], &b[index(j)], c[i][j]));
      }
    }
    return wrong;
  }

  static std::size_t index(int row) { return static_cast<std::size_t>(row * step_depth); }
};

std::vector<Simd> vector_paths() {
  std::vector<Simd> paths;
  for (const Simd simd : simd_here()) {
    if (step_functions(simd)) paths.push_back(simd);
  }
  return paths;
}

}  // namespace

TEST_CASE("the portable path has no step of its own here") {
  CHECK(step_functions(Simd::portable) == nullptr);
}

TEST_CASE("lanes: every pair of codes, alone and beside the largest product, under C of many sizes") {
  for (const Simd simd : vector_paths()) {
    INFO(simd_name(simd));
    const auto step = std::make_unique<Step>();
    int wrong = 0;
    for (int code_a = 0; code_a < 256; ++code_a) {
      for (int first_b = 0; first_b < 256; first_b += step_columns) {
        for (int i = 0; i < rows; ++i) {
          step->a[step->index(i) + 5] = static_cast<std::uint8_t>((code_a & 0x7f) == 0x7f ? 0 : code_a);
          step->a[step->index(i) + 6] = static_cast<std::uint8_t>(i % 3 ? 0 : 0x7e);
        }
        for (int j = 0; j < step_columns; ++j) {
          const int code_b = first_b + j;
          step->b[step->index(j) + 5] = static_cast<std::uint8_t>((code_b & 0x7f) == 0x7f ? 0x80 : code_b);
          step->b[step->index(j) + 6] = static_cast<std::uint8_t>(j % 2 ? 0xfe : 0x01);
          for (int i = 0; i < rows; ++i) {
            step->c[i][j] = static_cast<float>(j - 32) * std::ldexp(1.0f, i == 4 ? -140 : -6 * i);
          }
        }
        wrong += step->mismatches(simd, sm90);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("lanes: every distribution") {
  for (const Simd simd : vector_paths()) {
    const auto step = std::make_unique<Step>();
    for (const Distribution distribution : all_distributions()) {
      INFO(simd_name(simd) << " " << distribution_name(distribution));
      int wrong = 0;
      for (std::uint64_t seed = 0; seed < 100; ++seed) {
        step->fill(distribution, seed);
        wrong += step->mismatches(simd, sm90);
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("lanes: other alignments and group lengths, the largest sums among them") {
  for (const Simd simd : vector_paths()) {
    const auto step = std::make_unique<Step>();
    for (int bits = 1; bits <= max_step_fraction_bits; ++bits) {
      for (const int group : {1, 8, 16, 32}) {
        INFO(simd_name(simd) << " fraction bits " << bits << ", group " << group);
        int wrong = 0;
        for (const Distribution distribution : all_distributions()) {
          step->fill(distribution, 99);
          wrong += step->mismatches(simd, {bits, bits, group});
        }
        // All products 448 * 448 of one sign, and C as large.
        std::fill(step->a.begin(), step->a.end(), std::uint8_t{0x7e});
        std::fill(step->b.begin(), step->b.end(), std::uint8_t{0xfe});
        std::fill_n(&step->c[0][0], rows * step_columns, -0x1.fffffep16f);
        wrong += step->mismatches(simd, {bits, bits, group});
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("lanes: fewer columns and a shorter step count as zeros, and nothing past them is read") {
  for (const Simd simd : vector_paths()) {
    INFO(simd_name(simd));
    const StepFunctions& path = *step_functions(simd);
    const auto columns = std::make_unique<ColumnGroup>();
    // Exactly the bytes that may be read: AddressSanitizer watches the ends.
    const std::vector<std::uint8_t> b(2 * 7 + 5, 0x38), a(5, 0xb8);
    RowGroup row;
    path.load_columns(b.data(), 7, 3, 5, *columns);
    path.load_rows(a.data(), 5, 1, 5, &row);
    for (int k = 0; k < step_depth; ++k) {
      CHECK(row.magnitude[k] == (k < 5 ? 1.0f : 0.0f));
      for (int j = 0; j < step_columns; ++j) {
        const bool there = k < 5 && j < 3;
        REQUIRE(columns->magnitude[k][j] == (there ? 1.0f : 0.0f));
        REQUIRE((columns->exponent[k][j] != 0) == there);
      }
    }
    alignas(64) float chain[step_columns] = {};
    path.step({step_depth, sm90.fraction_bits}, &row, 1, *columns, chain);
    CHECK((chain[0] == -5.0f && chain[2] == -5.0f));
    CHECK(f32_bits(chain[3]) == 0);
  }
}

TEST_CASE("lanes: promotion is one multiplication and one fused multiply-add, rounded to nearest") {
  for (const Simd simd : vector_paths()) {
    INFO(simd_name(simd));
    const float a_scale[3] = {0x1.234568p-3f, 9.0f, 0x1.fffffep-1f};
    alignas(64) float b_scale[step_columns], chain[2][step_columns], final[2][step_columns],
        sums[2][step_columns], before[2][step_columns];
    fill_scales(Distribution::normal, 1, Operand::b_scale, b_scale);
    fill_c(Distribution::wide_c, 2, std::span(&chain[0][0], 2 * step_columns));
    fill_c(Distribution::wide_c, 3, std::span(&final[0][0], 2 * step_columns));
    std::copy_n(&final[0][0], 2 * step_columns, &before[0][0]);
    std::copy_n(&chain[0][0], 2 * step_columns, &sums[0][0]);
    step_functions(simd)->promote(a_scale, 2, 2, b_scale, &chain[0][0], &final[0][0]);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < step_columns; ++j) {
        REQUIRE(f32_bits(final[i][j]) ==
                f32_bits(fma_rn(mul_rn(a_scale[2 * i], b_scale[j]), sums[i][j], before[i][j])));
        REQUIRE(f32_bits(chain[i][j]) == 0);
      }
    }
  }
}

TEST_CASE("lanes: a NaN code is found wherever it is") {
  for (const Simd simd : vector_paths()) {
    INFO(simd_name(simd));
    const auto holds_nan = step_functions(simd)->holds_nan;
    for (const std::uint8_t nan : {std::uint8_t{0x7f}, std::uint8_t{0xff}}) {
      for (std::size_t length = 0; length < 200; length += 7) {
        std::vector<std::uint8_t> codes(length, 0x7e);
        REQUIRE_FALSE(holds_nan(codes.data(), static_cast<std::int64_t>(length)));
        for (std::size_t at = 0; at < length; ++at) {
          codes[at] = nan;
          REQUIRE(holds_nan(codes.data(), static_cast<std::int64_t>(length)));
          codes[at] = 0xfe;
        }
      }
    }
  }
}
