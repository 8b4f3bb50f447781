// The three workers make the same tiles, whatever lies in them.
#include "emulator/model/tile.hpp"

#include <limits>
#include <string>
#include <vector>

#include "emulator/number/float_bits.hpp"
#include "tests/catch.hpp"
#include "tests/model/dense.hpp"

using namespace fp8twin;
using fp8twin::test::Dense;

namespace {

/// Differing bits between dot() and the worker for `simd` over the slice's first tile, which must hold all of it.
int mismatches(const GemmSlice& slice, Simd simd, bool promote, const TensorCore& core = sm90) {
  const auto plain = make_dot_worker(), fast = make_tile_worker(core, simd);
  int wrong = 0;
  for (std::int64_t m0 = 0; m0 < slice.m; m0 += 128) {
    for (std::int64_t n0 = 0; n0 < slice.n; n0 += 64) {
      const Tile tile{slice,
                      core,
                      promote && slice.a_scale,
                      m0,
                      n0,
                      static_cast<int>(std::min<std::int64_t>(128, slice.m - m0)),
                      static_cast<int>(std::min<std::int64_t>(64, slice.n - n0))};
      plain->compute(tile);
      fast->compute(tile);
      for (int i = 0; i < tile.rows; ++i) {
        for (int j = 0; j < tile.columns; ++j)
          wrong += f32_bits(plain->values(i, 0)[j]) != f32_bits(fast->values(i, 0)[j]);
      }
    }
  }
  return wrong;
}

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN(),
                inf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("tiles: every distribution, with scales and as a wgmma's chain") {
  const Simd simd = GENERATE(from_range(simd_here()));
  for (const Distribution distribution : all_distributions()) {
    INFO(simd_name(simd) << " " << distribution_name(distribution));
    const Dense x(67, 70, 200, 128, distribution, 11);
    CHECK(mismatches(x.slice(), simd, true) == 0);
    CHECK(mismatches(x.wgmma_slice(), simd, false) == 0);
  }
}

TEST_CASE("tiles: a NaN code takes its row or its column and nothing else") {
  const Simd simd = GENERATE(from_range(simd_here()));
  INFO(simd_name(simd));
  Dense x(9, 70, 300, 128, Distribution::normal, 12);
  x.a[4 * 300 + 299] = 0x7f;
  x.b[66 * 300] = 0xff;
  CHECK(mismatches(x.slice(), simd, true) == 0);
  const auto worker = make_tile_worker(sm90, simd);
  worker->compute({x.slice(), sm90, true, 0, 0, 9, 64});
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 64; ++j) REQUIRE(is_nan(worker->values(i, 0)[j]) == (i == 4));
  }
}

TEST_CASE("tiles: a C that is infinite, NaN, huge, subnormal or zero of either sign") {
  const Simd simd = GENERATE(from_range(simd_here()));
  INFO(simd_name(simd));
  Dense x(8, 40, 96, 128, Distribution::sparse, 13);
  const float special[] = {
      inf,     -inf,  not_a_number, 0x1.fffffep127f, -0x1.234566p120f,  0x1p100f,   0x1.fffffep99f, 1e-45f,
      -1e-40f, -0.0f, 0.0f,         0x1.8p-126f,     -0x1.fffffep-120f, 0x1.23p-30f};
  for (std::size_t i = 0; i < x.c.size(); ++i) x.c[i] = special[i % std::size(special)];
  for (std::size_t k = 0; k < 96; ++k)
    x.a[2 * 96 + k] = static_cast<std::uint8_t>(k % 2 ? 0x80 : 0);  // no products in row 2
  x.a[5 * 96 + 40] = 0x7f;
  x.b[11 * 96 + 3] = 0xff;
  CHECK(mismatches(x.wgmma_slice(), simd, false) == 0);
  CHECK(mismatches(x.wgmma_slice(), simd, false, {3, 3, 8}) == 0);
}

TEST_CASE("tiles: a wgmma's chain of no steps is C, bit for bit") {
  const Simd simd = GENERATE(from_range(simd_here()));
  INFO(simd_name(simd));
  Dense x(8, 40, 0, 128, Distribution::normal, 17);
  fill_c(Distribution::any_c, 17, x.c);
  x.c[7] = f32_from_bits(0xffef9dbf);
  x.c[41] = f32_from_bits(0x7f800001);
  const GemmSlice slice = x.wgmma_slice();
  const auto worker = make_tile_worker(sm90, simd);
  worker->compute({slice, sm90, false, 0, 0, 8, 40});
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 40; ++j) {
      REQUIRE(f32_bits(worker->values(i, 0)[j]) == f32_bits(x.c[static_cast<std::size_t>(40 * i + j)]));
    }
  }
}

TEST_CASE("tiles: scales that are infinite, NaN, zero, negative, subnormal or huge") {
  const Simd simd = GENERATE(from_range(simd_here()));
  INFO(simd_name(simd));
  const float special[] = {inf,   1.0f,   not_a_number, 0.0f,  -0.0f,
                           -2.5f, 1e-45f, 1e-39f,       3e38f, 0x1.fffffep127f};
  Dense x(40, 30, 260, 1, Distribution::uniform, 14);
  for (std::size_t i = 0; i < x.a_scale.size(); i += 2) x.a_scale[i] = special[i / 2 % std::size(special)];
  for (std::size_t i = 0; i < x.b_scale.size(); i += 3) x.b_scale[i] = special[i / 3 % std::size(special)];
  CHECK(mismatches(x.slice(), simd, true) == 0);
}

TEST_CASE("tiles: finishing multiplies, adds c and rounds") {
  Dense x(3, 70, 64, 128, Distribution::normal, 15);
  const GemmSlice slice = x.slice(true);
  const auto worker = make_dot_worker();
  const Tile tile{slice, sm90, false, 1, 64, 2, 6};
  worker->compute(tile);
  std::vector<float> d(3 * 70, 7.0f);
  finish_tile(tile, *worker, DType::f32, reinterpret_cast<std::byte*>(d.data()), 70);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 70; ++j) {
      const bool inside = i >= 1 && j >= 64;
      float expected = 7.0f;
      if (inside) {
        const float chain =
            dot(sm90, &x.a[i * 64 + 32], &x.b[j * 64 + 32], dot(sm90, &x.a[i * 64], &x.b[j * 64], 0.0f));
        expected = add_rn(x.c[i * 70 + j], mul_rn(mul_rn(x.a_scale[i], x.b_scale[0]), chain));
      }
      REQUIRE(f32_bits(d[i * 70 + j]) == f32_bits(expected));
    }
  }
}

TEST_CASE("tiles: cores that the lanes cannot hold go another way") {
  for (const Simd simd : simd_here()) {
    CHECK(make_tile_worker(with_fraction_bits(17), simd)->most_rows() == make_dot_worker()->most_rows());
    for (const int bits : {14, 15, 16, 17}) {
      INFO(simd_name(simd) << " " << bits);
      CHECK(mismatches(Dense(3, 5, 96, 128, Distribution::extremes, 16).slice(), simd, true,
                       with_fraction_bits(bits)) == 0);
    }
    CHECK(mismatches(Dense(3, 5, 96, 128, Distribution::extremes, 16).slice(), simd, true, {13, 12, 32}) ==
          0);
  }
}
