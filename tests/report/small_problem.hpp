// A dense problem that owns its operands: uniform finite codes, scales of 24 random bits, or what a test
// puts there.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/model/problem.hpp"
#include "emulator/support/random.hpp"
#include "tests/report/second_model.hpp"

namespace fp8twin::test {

struct SmallProblem {
  std::int64_t m, n, k;
  std::vector<std::uint8_t> a, b;
  std::vector<float> a_scale, b_scale;

  SmallProblem(std::int64_t m_, std::int64_t n_, std::int64_t k_, std::uint64_t seed = 1)
      : m(m_),
        n(n_),
        k(k_),
        a(size(m * k)),
        b(size(n * k)),
        a_scale(size(m * blocks())),
        b_scale(size((n + 127) / 128 * blocks())) {
    fill(a, seed, 1);
    fill(b, seed, 2);
    fill(a_scale, seed, 3);
    fill(b_scale, seed, 4);
  }

  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
  std::int64_t blocks() const { return (k + 127) / 128; }

  const std::uint8_t* a_row(std::int64_t row) const { return a.data() + row * k; }
  const std::uint8_t* b_row(std::int64_t row) const { return b.data() + row * k; }
  float sa(std::int64_t row, std::int64_t block) const { return a_scale[size(row * blocks() + block)]; }
  float sb(std::int64_t row, std::int64_t block) const { return b_scale[size(row / 128 * blocks() + block)]; }
  std::int64_t length(std::int64_t block) const { return block + 1 < blocks() ? 128 : k - 128 * block; }
  /// The sum of a K block as the tensor core gives it.
  float p(std::int64_t row, std::int64_t column, std::int64_t block, int bits = 13) const {
    return second_chain(a_row(row) + 128 * block, b_row(column) + 128 * block, length(block), 0.0f, bits);
  }

  /// What the hardware gives, in FP32.
  float model(std::int64_t row, std::int64_t column) const {
    float final = 0.0f;
    for (std::int64_t j = 0; j < blocks(); ++j)
      final = std::fma(sa(row, j) * sb(column, j), p(row, column, j), final);
    return final;
  }

  std::vector<Tensor> tensors() const {
    return {tensor_of<std::uint8_t>("a", DType::f8_e4m3, {m, k}, a),
            tensor_of<float>("a_scale", DType::f32, {m, blocks()}, a_scale),
            tensor_of<std::uint8_t>("b", DType::f8_e4m3, {n, k}, b),
            tensor_of<float>("b_scale", DType::f32, {(n + 127) / 128, blocks()}, b_scale)};
  }

  Problem problem() const {
    TensorFile file;
    file.path = "small";
    file.tensors = tensors();
    return read_problem(file);
  }

  /// d by any function of row and column.
  template <class Function>
  std::vector<float> f32(const Function& function) const {
    std::vector<float> d;
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t column = 0; column < n; ++column) d.push_back(function(row, column));
    }
    return d;
  }
  std::vector<float> model_f32() const {
    return f32([this](std::int64_t row, std::int64_t column) { return model(row, column); });
  }
  static std::vector<std::uint16_t> bf16(const std::vector<float>& x) {
    std::vector<std::uint16_t> d;
    for (const float value : x) d.push_back(second_bf16(value));
    return d;
  }

 private:
  static void fill(std::vector<std::uint8_t>& codes, std::uint64_t seed, std::uint64_t stream) {
    const Random random(seed, stream);
    for (std::size_t i = 0; i < codes.size(); ++i) {  // sign and one of 127 finite magnitudes
      const std::uint32_t draw = random.below(i, 254);
      codes[i] = static_cast<std::uint8_t>(draw < 127 ? draw : draw + 1);
    }
  }
  static void fill(std::vector<float>& scales, std::uint64_t seed, std::uint64_t stream) {
    const Random random(seed, stream);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      scales[i] = std::ldexp(static_cast<float>(0x800000u + random.below(i, 0x800000u)),
                             -23 - static_cast<int>(random.below(i + 1000000, 8)));
    }
  }
};

}  // namespace fp8twin::test
