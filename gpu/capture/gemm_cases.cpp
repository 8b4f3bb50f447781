#include "gpu/capture/gemm_cases.hpp"

#include <fmt/format.h>

namespace fp8twin::capture {

std::string GemmCase::name() const {
  return fmt::format("m{}_n{}_k{}_{}_{}", m, n, k, distribution_name(distribution),
                     output_f32 ? "f32" : "bf16");
}

std::uint64_t GemmCase::seed(std::uint64_t base) const {
  std::uint64_t hash = base;
  for (const std::int64_t part : {m, n, k, static_cast<std::int64_t>(distribution)}) {
    hash = hash * 1000003 + static_cast<std::uint64_t>(part);
  }
  return hash % 1'000'000'007;
}

GemmData::GemmData(const GemmCase& g, std::uint64_t seed)
    : k_blocks((g.k + 127) / 128), n_blocks((g.n + 127) / 128) {
  a.resize(static_cast<std::size_t>(g.m * g.k));
  b.resize(static_cast<std::size_t>(g.n * g.k));
  a_scale.resize(static_cast<std::size_t>(g.m * k_blocks));
  b_scale.resize(static_cast<std::size_t>(n_blocks * k_blocks));
  fill_codes(g.distribution, seed, Operand::a, g.k, a);
  fill_codes(g.distribution, seed, Operand::b, g.k, b);
  fill_scales(g.distribution, seed, Operand::a_scale, a_scale);
  fill_scales(g.distribution, seed, Operand::b_scale, b_scale);
}

std::vector<GemmCase> golden_gemms() {
  using D = Distribution;
  return {
      {200, 576, 7168, D::normal, false},
      {1, 8, 128, D::uniform, true},
      {1, 8, 128, D::normal, false},
      {1, 24, 7168, D::normal, false},
      {1, 448, 192, D::uniform, false},
      {1, 576, 384, D::normal, true},
      {7, 8, 7168, D::uniform, true},
      {7, 24, 1152, D::extremes, false},
      {7, 24, 192, D::subnormal, true},
      {7, 448, 384, D::row_exponent, true},
      {7, 576, 192, D::exponents_4_11, false},
      {7, 576, 128, D::normal, true},
      {200, 8, 1152, D::sparse, true},
      {200, 8, 192, D::uniform_nan, false},
      {200, 24, 384, D::rare_subnormal, true},
      {200, 24, 128, D::extremes, false},
      {200, 448, 128, D::normal, false},
      {200, 576, 384, D::uniform, false},
      {1, 8, 16512, D::ones, true},
      // scales of every kind
      {7, 24, 384, D::adversarial, true},
      {7, 24, 384, D::adversarial, false},
      {7, 448, 1152, D::adversarial, false},
      {200, 24, 1152, D::adversarial, true},
      {65, 136, 300, D::adversarial, true},
      {200, 448, 128, D::adversarial, false},
      // tails everywhere
      {1, 1, 1, D::uniform, true},
      {3, 5, 77, D::uniform, false},
      {33, 40, 200, D::normal, true},
      {63, 257, 129, D::uniform, true},
      {130, 72, 1000, D::normal, false},
      {2, 3, 0, D::uniform, true},
  };
}

std::vector<GemmCase> large_gemms() {
  using D = Distribution;
  return {
      {333, 1024, 16384, D::normal, true},     {1024, 2112, 7168, D::normal, false},
      {4096, 7168, 2048, D::uniform, false},   {4096, 4096, 4096, D::normal, true},
      {512, 4096, 7168, D::extremes, true},    {777, 3001, 1537, D::row_exponent, true},
      {2000, 1111, 999, D::adversarial, true}, {1999, 2222, 2111, D::uniform_nan, false},
  };
}

}  // namespace fp8twin::capture
