// The lane-wise step against the readable dot(), bit for bit, over every distribution and many alignments.
#include "emulator/number/group_step.hpp"

#include <memory>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "emulator/support/random.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

/// One row of A and 64 of B, 128 deep, with a C for each column: all groups of the block, then the mismatches.
int mismatches(const TensorCore& core, Distribution distribution, std::uint64_t seed) {
  std::vector<std::uint8_t> a(panel_k), b(lane_columns * panel_k);
  Lanes c{};
  fill_codes(distribution, seed, Operand::a, panel_k, a);
  fill_codes(distribution, seed, Operand::b, panel_k, b);
  fill_c(distribution, seed, c);

  const auto panel_a = std::make_unique<Panel<1>>();
  const auto panel_b = std::make_unique<Panel<lane_columns>>();
  panel_a->load(a.data(), 0, 1, panel_k, core.group);
  panel_b->load(b.data(), panel_k, lane_columns, panel_k, core.group);
  int wrong = 0;
  for (int k = 0; k < panel_k; k += core.group) {
    Lanes expected{};
    for (std::size_t j = 0; j < lane_columns; ++j) {
      expected[j] = dot(core, a.data() + k, b.data() + j * panel_k + static_cast<std::size_t>(k), c[j]);
    }
    group_step(core, *panel_a, *panel_b, k, c);
    for (std::size_t j = 0; j < lane_columns; ++j) wrong += f32_bits(c[j]) != f32_bits(expected[j]);
  }
  return wrong;
}

}  // namespace

TEST_CASE("group_step equals dot on every distribution") {
  for (const Distribution distribution : all_distributions()) {
    INFO(distribution_name(distribution));
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) wrong += mismatches(sm90, distribution, seed);
    CHECK(wrong == 0);
  }
}

TEST_CASE("group_step equals dot for other alignments and group lengths") {
  for (int bits = 1; bits <= max_lane_fraction_bits; ++bits) {
    for (const int group : {8, 16, 32}) {
      INFO("fraction bits " << bits << ", group " << group);
      int wrong = 0;
      for (const Distribution distribution : all_distributions())
        wrong += mismatches({bits, bits, group}, distribution, 99);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("group_step: every pair of codes, alone and beside the largest product") {
  const auto panel_a = std::make_unique<Panel<1>>();
  const auto panel_b = std::make_unique<Panel<lane_columns>>();
  int wrong = 0;
  for (int code_a = 0; code_a < 256; ++code_a) {
    for (int first_b = 0; first_b < 256; first_b += lane_columns) {
      std::vector<std::uint8_t> a(32), b(lane_columns * 32);
      Lanes c{};
      a[5] = static_cast<std::uint8_t>(code_a);
      a[6] = static_cast<std::uint8_t>(code_a % 3 ? 0 : 0x7e);
      for (std::size_t j = 0; j < lane_columns; ++j) {
        b[j * 32 + 5] = static_cast<std::uint8_t>(static_cast<std::size_t>(first_b) + j);
        b[j * 32 + 6] = static_cast<std::uint8_t>(j % 2 ? 0xfe : 0x01);
        c[j] = static_cast<float>(static_cast<int>(j) - 32) * 0x1p-6f;
      }
      const Lanes before = c;
      panel_a->load(a.data(), 0, 1, 32, 32);
      panel_b->load(b.data(), 32, lane_columns, 32, 32);
      group_step(sm90, *panel_a, *panel_b, 0, c);
      for (std::size_t j = 0; j < lane_columns; ++j)
        wrong += f32_bits(c[j]) != f32_bits(dot(sm90, a.data(), &b[j * 32], before[j]));
    }
  }
  CHECK(wrong == 0);
}
