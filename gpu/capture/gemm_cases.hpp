// The GEMMs that become golden files, and those that are only compared on the card.
//
// Together the golden ones meet M in {1, 7, 200}, N in {8, 24, 448, 576} and K in {128, 192, 384, 1152,
// 7168}, each value in several company and with both outputs; N = 448 and 576 end in the middle of a 128-row
// scale block, K = 192 in the middle of a K block; the last ones have tails in every direction. Adversarial:
// scales zero, subnormal, huge, negative, infinite, NaN; NaN codes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/model/distribution.hpp"

namespace fp8twin::capture {

struct GemmCase {
  std::int64_t m, n, k;
  Distribution distribution;
  bool output_f32;

  /// "m200_n576_k7168_normal_bf16": the golden file's name.
  std::string name() const;
  std::uint64_t seed(std::uint64_t base) const;
};

/// Host arrays of one case, drawn by its seed.
struct GemmData {
  std::vector<std::uint8_t> a, b;
  std::vector<float> a_scale, b_scale;
  std::int64_t k_blocks, n_blocks;
  GemmData(const GemmCase& gemm, std::uint64_t seed);
};

/// tutorials/quickstart.sh replays the first one.
std::vector<GemmCase> golden_gemms();
/// Larger ones (M x N x K: 4096 x 7168 x 2048, 4096 x 4096 x 4096, 333 x 1024 x 16384), and odd ones.
std::vector<GemmCase> large_gemms();

/// The widths of step 1's tile that every case is run with: the bits must not depend on it.
inline constexpr int gemm_widths[] = {8, 24, 64, 128, 192};

}  // namespace fp8twin::capture
