// One random 1D2D problem and what the model says of it: what tests lay machine and card beside.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "fp8twin/model.hpp"
#include "gpu/launch/gemm_data.hpp"

namespace fp8twin::test {

struct RandomGemm {
  i64 m, n, k;
  std::vector<std::uint8_t> a, b;
  std::vector<float> a_scale, b_scale;

  RandomGemm(i64 m_, i64 n_, i64 k_, Distribution distribution, std::uint64_t seed) : m(m_), n(n_), k(k_) {
    const auto size = [](i64 count) { return static_cast<std::size_t>(count); };
    const i64 k_blocks = (k + 127) / 128, n_blocks = (n + 127) / 128;
    a.resize(size(m * k));
    b.resize(size(n * k));
    a_scale.resize(size(m * k_blocks));
    b_scale.resize(size(n_blocks * k_blocks));
    fill_codes(distribution, seed, Operand::a, k, a);
    fill_codes(distribution, seed, Operand::b, k, b);
    fill_scales(distribution, seed, Operand::a_scale, a_scale);
    fill_scales(distribution, seed, Operand::b_scale, b_scale);
  }

  GemmOperands operands() const { return {a, a_scale, b, b_scale}; }

  /// The bytes of d, BF16 or FP32.
  std::vector<u8> model(bool output_f32) const {
    const std::size_t count = static_cast<std::size_t>(m * n);
    std::vector<u8> bytes(count * (output_f32 ? 4 : 2));
    if (output_f32) {
      std::vector<float> d(count);
      gemm(m, n, k, a, a_scale, b, b_scale, std::span<float>(d), {.threads = 1});
      if (count) std::memcpy(bytes.data(), d.data(), bytes.size());
    } else {
      std::vector<std::uint16_t> d(count);
      gemm(m, n, k, a, a_scale, b, b_scale, std::span<std::uint16_t>(d), {.threads = 1});
      if (count) std::memcpy(bytes.data(), d.data(), bytes.size());
    }
    return bytes;
  }
};

}  // namespace fp8twin::test
