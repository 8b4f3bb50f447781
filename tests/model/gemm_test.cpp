// The model GEMM against the same formula written out plainly with dot(), bit for bit, on every kind of problem.
#include "emulator/model/gemm.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "emulator/number/bf16.hpp"
#include "emulator/number/float_bits.hpp"
#include "emulator/support/error.hpp"
#include "tests/catch.hpp"
#include "tests/model/dense.hpp"

using namespace fp8twin;
using fp8twin::test::Dense;

namespace {

/// Section by section as the header of gemm.hpp says it.
float plain(const Dense& d, std::int64_t i, std::int64_t j, bool promote, const TensorCore& core) {
  const auto size = &Dense::size;
  const std::int64_t k = d.k;
  float final = 0, chain = 0;
  for (std::int64_t block = 0; block < d.blocks(); ++block) {
    std::vector<std::uint8_t> x(128), y(128);
    const std::int64_t depth = std::min<std::int64_t>(128, k - 128 * block);
    std::memcpy(x.data(), &d.a[size(i * k + 128 * block)], size(depth));
    std::memcpy(y.data(), &d.b[size(j * k + 128 * block)], size(depth));
    if (promote) chain = 0;
    for (std::size_t step = 0; step < 128; step += 32) chain = dot(core, &x[step], &y[step], chain);
    const float s =
        mul_rn(d.a_scale[size(i * d.blocks() + block)], d.b_scale[size(j / d.b_rows * d.blocks() + block)]);
    final = promote ? fma_rn(s, chain, final) : mul_rn(s, chain);
  }
  return final;
}

/// Differing bits between gemm_slice and the plain formula.
int mismatches(const Dense& x, const GemmOptions& options, bool with_c = false) {
  std::vector<float> d(Dense::size(x.m * x.n), -1.0f);
  gemm_slice(x.slice(with_c), DType::f32, reinterpret_cast<std::byte*>(d.data()), x.n, options);
  int wrong = 0;
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      float expected = plain(x, i, j, options.promote, options.core);
      if (with_c) expected = add_rn(x.c[Dense::size(i * x.n + j)], expected);
      wrong += f32_bits(expected) != f32_bits(d[Dense::size(i * x.n + j)]);
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("model GEMM: every distribution, shapes with tails, both scale layouts") {
  const Simd simd = GENERATE(from_range(simd_here()));
  for (const Distribution distribution : all_distributions()) {
    INFO(simd_name(simd) << " " << distribution_name(distribution));
    CHECK(mismatches({130, 70, 192, 128, distribution, 1}, {.threads = 2, .simd = simd}) == 0);
    CHECK(mismatches({3, 130, 300, 1, distribution, 2}, {.threads = 2, .simd = simd}) == 0);
    CHECK(mismatches({5, 9, 260, 1, distribution, 3}, {.simd = simd}, true) == 0);
  }
}

TEST_CASE(
    "model GEMM: a partial block of K has its own scale, and N = 448 reads block 3 for its last columns") {
  Dense tail(2, 8, 192, 128, Distribution::ones, 1);
  tail.a_scale = {1, 2, 4, 8};  // [2, 2]
  std::vector<float> d(16);
  gemm_slice(tail.slice(), DType::f32, reinterpret_cast<std::byte*>(d.data()), 8, {});
  CHECK(d[0] == 128 * 1 + 64 * 2);
  CHECK(d[8] == 128 * 4 + 64 * 8);

  Dense wide(1, 448, 128, 128, Distribution::ones, 1);
  wide.b_scale = {1, 2, 4, 8};
  d.resize(448);
  gemm_slice(wide.slice(), DType::f32, reinterpret_cast<std::byte*>(d.data()), 448, {});
  for (std::size_t j = 0; j < 448; ++j) REQUIRE(d[j] == 128.0f * static_cast<float>(1 << (j / 128)));
}

TEST_CASE("model GEMM: K = 0 gives +0, or c; M = 0 or N = 0 gives nothing") {
  const Dense empty(2, 3, 0, 1, Distribution::normal, 1);
  std::vector<float> d(6, 7.0f);
  gemm_slice(empty.slice(), DType::f32, reinterpret_cast<std::byte*>(d.data()), 3, {});
  for (const float x : d) CHECK(f32_bits(x) == 0);
  gemm_slice(empty.slice(true), DType::f32, reinterpret_cast<std::byte*>(d.data()), 3, {});
  for (std::size_t i = 0; i < 6; ++i) CHECK(f32_bits(d[i]) == f32_bits(add_rn(empty.c[i], 0.0f)));
  gemm_slice(empty.slice(), DType::f32, reinterpret_cast<std::byte*>(d.data()), 3, {.promote = false});
  for (const float x : d) CHECK(f32_bits(x) == 0);
  gemm_slice(Dense(0, 3, 128, 1, Distribution::normal, 1).slice(), DType::f32, nullptr, 3, {});
  gemm_slice(Dense(3, 0, 128, 1, Distribution::normal, 1).slice(), DType::f32, nullptr, 0, {});
}

TEST_CASE("model GEMM: without promotion, one chain; scales must then be constant along K") {
  const Simd simd = GENERATE(from_range(simd_here()));
  Dense x(3, 5, 512, 128, Distribution::normal, 4);
  CHECK_THROWS_AS(mismatches(x, {.promote = false}), Error);
  std::fill(x.a_scale.begin(), x.a_scale.end(), 0.75f);
  std::fill(x.b_scale.begin(), x.b_scale.end(), 0.3f);
  CHECK(mismatches(x, {.promote = false, .simd = simd}) == 0);
}

TEST_CASE("model GEMM: ones over K = 16512 stick at 16384 without promotion") {
  const Dense x(1, 1, 16512, 128, Distribution::ones, 1);
  float d = 0;
  gemm_slice(x.slice(), DType::f32, reinterpret_cast<std::byte*>(&d), 1, {.promote = false});
  CHECK(d == 16384.0f);
  gemm_slice(x.slice(), DType::f32, reinterpret_cast<std::byte*>(&d), 1, {});
  CHECK(d == 16512.0f);
  gemm_slice(x.slice(), DType::f32, reinterpret_cast<std::byte*>(&d), 1,
             {.promote = false, .core = with_fraction_bits(25)});
  CHECK(d == 16512.0f);
}

TEST_CASE("model GEMM: other cores, by lanes and by dot") {
  const Simd simd = GENERATE(from_range(simd_here()));
  for (const int bits : {1, 12, 14, 15, 16, 17, 25, 40}) {
    INFO(simd_name(simd) << " fraction bits " << bits);
    CHECK(mismatches({3, 70, 192, 128, Distribution::normal, 5},
                     {.core = with_fraction_bits(bits), .simd = simd}) == 0);
  }
  const Dense x(1, 1, 32, 128, Distribution::normal, 5);
  CHECK_THROWS_AS(mismatches(x, {.core = with_fraction_bits(0)}), Error);
  CHECK_THROWS_AS(mismatches(x, {.core = with_fraction_bits(41)}), Error);
}

TEST_CASE("model GEMM: threads, path and output type change no bit") {
  const Dense x(200, 136, 384, 128, Distribution::adversarial, 6);
  std::vector<float> one(200 * 136), many(200 * 136);
  gemm_slice(x.slice(), DType::f32, reinterpret_cast<std::byte*>(one.data()), 136, {.threads = 1});
  gemm_slice(x.slice(), DType::f32, reinterpret_cast<std::byte*>(many.data()), 136, {.threads = 5});
  CHECK(std::memcmp(one.data(), many.data(), one.size() * 4) == 0);
  for (const Simd simd : simd_here()) {
    for (const int threads : {1, 2, 3, 7}) {
      INFO(simd_name(simd) << " " << threads << " threads");
      std::fill(many.begin(), many.end(), 7.0f);
      gemm_slice(x.slice(), DType::f32, reinterpret_cast<std::byte*>(many.data()), 136,
                 {.threads = threads, .simd = simd});
      CHECK(std::memcmp(one.data(), many.data(), one.size() * 4) == 0);
    }
  }
  // More threads than tiles cost nothing: a workspace for each of these would be 80 TB.
  gemm_slice(x.slice(), DType::f32, reinterpret_cast<std::byte*>(many.data()), 136,
             {.threads = 1'000'000'000});
  CHECK(std::memcmp(one.data(), many.data(), one.size() * 4) == 0);
  std::vector<std::uint16_t> bf16(200 * 136);
  gemm_slice(x.slice(), DType::bf16, reinterpret_cast<std::byte*>(bf16.data()), 136, {});
  int wrong = 0;
  for (std::size_t i = 0; i < one.size(); ++i) wrong += bf16[i] != BF16::rn(one[i]).code;
  CHECK(wrong == 0);
}

TEST_CASE("model GEMM: a wgmma chains from c, without scales") {
  const Dense x(64, 24, 128, 128, Distribution::wide_c, 7);
  const GemmSlice slice = x.wgmma_slice();
  std::vector<float> d(64 * 24);
  gemm_slice(slice, DType::f32, reinterpret_cast<std::byte*>(d.data()), 24, {});
  int wrong = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 24; ++j) {
      float chain = x.c[i * 24 + j];
      for (std::size_t k = 0; k < 128; k += 32)
        chain = dot(sm90, &x.a[i * 128 + k], &x.b[j * 128 + k], chain);
      wrong += f32_bits(chain) != f32_bits(d[i * 24 + j]);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("model GEMM: progress counts every tile once") {
  const Dense x(300, 130, 128, 128, Distribution::normal, 8);
  std::vector<float> d(300 * 130);
  std::int64_t last = 0, total = 0, calls = 0;
  gemm_slice(x.slice(), DType::f32, reinterpret_cast<std::byte*>(d.data()), 130,
             {.threads = 2,
              .progress = [&](std::int64_t done, std::int64_t of) { last = done, total = of, ++calls; }});
  CHECK(total > 1);
  CHECK((last == total && calls == total));
}
