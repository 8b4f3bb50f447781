// The entry over views: the bits of gemm() in every order that memory allows, and the helpers that put the rest in order.
#include <fp8twin/model.hpp>

#include <string>
#include <vector>

#include "emulator/model/distribution.hpp"
#include "tests/catch.hpp"

using fp8twin::MatrixView;
using fp8twin::row_major;

namespace {

using Codes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

constexpr std::int64_t m = 37, n = 150, k = 300;

/// Operands [m,k] and [n,k] with scales, and gemm()'s answer.
struct Expected {
  Codes a = Codes(m * k), b = Codes(n * k);
  Floats a_scale = Floats(m * 3), b_scale = Floats(2 * 3), c = Floats(m * n), d = Floats(m * n);

  Expected() {
    using namespace fp8twin;
    fill_codes(Distribution::uniform, 1, Operand::a, k, a);
    fill_codes(Distribution::uniform, 1, Operand::b, k, b);
    fill_scales(Distribution::uniform, 1, Operand::a_scale, a_scale);
    fill_scales(Distribution::uniform, 1, Operand::b_scale, b_scale);
    fill_c(Distribution::wide_c, 1, c);
    gemm(m, n, k, a, a_scale, b, b_scale, std::span<float>(d), {}, c);
  }
};

/// [rows, columns] of codes, each row `stride` apart, 0xff between.
Codes spread(const Codes& x, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  Codes y(static_cast<std::size_t>(rows * stride), 0xff);
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(x.begin() + row * columns, columns, y.begin() + row * stride);
  return y;
}

}  // namespace

TEST_CASE("views: every name gives gemm's bits where K is contiguous") {
  const Expected e;
  const MatrixView a = row_major(e.a, m, k), b = row_major(e.b, n, k);
  const MatrixView a_turned{e.a, k, m, 1, k},
      b_turned{e.b, k, n, 1, k};  // the same bytes, seen as [K, M] and [K, N]
  const auto same = [&](auto function, const MatrixView& x, const MatrixView& y) {
    Floats d(m * n, -1);
    function(x, e.a_scale, y, e.b_scale, std::span<float>(d), fp8twin::ModelOptions{},
             std::span<const float>(e.c));
    CHECK(d == e.d);
  };
  same([](auto... given) { fp8twin::gemm_nt(given...); }, a, b);
  same([](auto... given) { fp8twin::gemm_nn(given...); }, a, b_turned);
  same([](auto... given) { fp8twin::gemm_tn(given...); }, a_turned, b_turned);
  same([](auto... given) { fp8twin::gemm_tt(given...); }, a_turned, b);
}

TEST_CASE("views: rows with a stride of their own, and a BF16 result") {
  const Expected e;
  const Codes a = spread(e.a, m, k, 304), b = spread(e.b, n, k, 512);
  const MatrixView a_view{a, m, k, 304, 1}, b_view{b, n, k, 512, 1};
  Floats d(m * n);
  fp8twin::gemm_nt(a_view, e.a_scale, b_view, e.b_scale, std::span<float>(d), {}, e.c);
  CHECK(d == e.d);
  std::vector<std::uint16_t> bf16(m * n), dense(m * n);
  fp8twin::gemm_nt(a_view, e.a_scale, b_view, e.b_scale, std::span<std::uint16_t>(bf16));
  fp8twin::gemm(m, n, k, e.a, e.a_scale, e.b, e.b_scale, std::span<std::uint16_t>(dense));
  CHECK(bf16 == dense);
  for (const auto function : {0, 1, 2}) {
    std::vector<std::uint16_t> out(m * n);
    const std::span<std::uint16_t> span(out);
    const MatrixView a_turned{a, k, m, 1, 304}, b_turned{b, k, n, 1, 512};
    if (function == 0) fp8twin::gemm_nn(a_view, e.a_scale, b_turned, e.b_scale, span);
    if (function == 1) fp8twin::gemm_tn(a_turned, e.a_scale, b_turned, e.b_scale, span);
    if (function == 2) fp8twin::gemm_tt(a_turned, e.a_scale, b_view, e.b_scale, span);
    CHECK(out == dense);
  }
}

TEST_CASE("views: a row-major [K, N] is refused, and transpose() makes it one for gemm_nt") {
  const Expected e;
  Codes b_kn(e.b.size());
  Floats b_scale_kn(e.b_scale.size());
  fp8twin::transpose(n, k, e.b, b_kn);
  fp8twin::transpose(2, 3, e.b_scale, b_scale_kn);  // the grid of 128x128 blocks of a [K, N]
  Floats d(m * n);
  const std::span<float> out(d);
  const MatrixView a = row_major(e.a, m, k);
  CHECK_THROWS_WITH(fp8twin::gemm_nn(a, e.a_scale, row_major(b_kn, k, n), e.b_scale, out),
                    contains_text("operand 'b' of gemm_nn is [K, N] = [300, 150]"));
  Codes b(e.b.size());
  Floats b_scale(e.b_scale.size());
  fp8twin::transpose(k, n, b_kn, b);
  fp8twin::transpose(3, 2, b_scale_kn, b_scale);
  fp8twin::gemm_nt(a, e.a_scale, row_major(b, n, k), b_scale, out, {}, e.c);
  CHECK(d == e.d);
}

TEST_CASE("views: wrong extents and spans are refused by name") {
  const Expected e;
  Floats d(m * n);
  const std::span<float> out(d);
  const MatrixView a = row_major(e.a, m, k), b = row_major(e.b, n, k);
  CHECK_THROWS_WITH(fp8twin::gemm_nt(a, e.a_scale, row_major(e.b, n, k - 1), e.b_scale, out),
                    contains_text("K = 300 and K = 299"));
  CHECK_THROWS_WITH(fp8twin::gemm_nt(a, e.a_scale, row_major(e.b, n + 1, k), e.b_scale, out),
                    contains_text("operand 'b' of gemm_nt"));
  CHECK_THROWS_WITH(fp8twin::gemm_nt(a, e.b_scale, b, e.b_scale, out), contains_text("'a_scale'"));
  CHECK_THROWS_WITH(fp8twin::gemm_nt(a, e.a_scale, b, e.a_scale, out), contains_text("'b_scale'"));
  CHECK_THROWS_WITH(fp8twin::gemm_nt(a, e.a_scale, b, e.b_scale, out.first(1)), contains_text("'d'"));
  Codes y(7);
  CHECK_THROWS_WITH(fp8twin::transpose(2, 4, Codes(8), y), contains_text("'y' has 7 elements"));
  CHECK_THROWS_WITH(fp8twin::transpose(2, 3, Codes(8), y), contains_text("'x' has 8 elements"));
}

TEST_CASE("scales as TMA copies them: K blocks outside, rows rounded up to 4, zeros added") {
  CHECK(fp8twin::aligned_rows(0) == 0);
  CHECK(fp8twin::aligned_rows(5) == 8);
  const Floats scales{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};  // [5, 2]
  Floats aligned(2 * 8, -1);
  fp8twin::align_scales(5, 2, scales, aligned);
  CHECK(aligned == Floats{1, 3, 5, 7, 9, 0, 0, 0, 2, 4, 6, 8, 10, 0, 0, 0});
  Floats back(10);
  fp8twin::unalign_scales(5, 2, aligned, back);
  CHECK(back == scales);
  Floats none;
  fp8twin::align_scales(5, 0, none, none);
  fp8twin::align_scales(0, 3, none, none);
  CHECK_THROWS_WITH(fp8twin::align_scales(5, 2, scales, back), contains_text("'aligned' has 10 elements"));
  CHECK_THROWS_WITH(fp8twin::unalign_scales(6, 2, aligned, back), contains_text("'scales' has 10 elements"));
}
