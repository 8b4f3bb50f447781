// The frozen entry: the same bits as the engine, and a sentence for every span of the wrong size.
#include <fp8twin/model.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "emulator/number/bf16.hpp"
#include "tests/catch.hpp"

namespace {

using Codes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

const Codes a(3 * 192, 0x38), b(130 * 192, 0x40);  // 1.0 and 2.0
const Floats a_scale{1, 2, 3, 4, 5, 6}, b_scale{1, 10, 100, 1000};

}  // namespace

TEST_CASE("entry: gemm with 128 x 128 scales, f32 and bf16") {
  Floats d(3 * 130);
  fp8twin::gemm(3, 130, 192, a, a_scale, b, b_scale, std::span<float>(d));
  CHECK(d[0] == 256 * 1 * 1 + 128 * 2 * 10);
  CHECK(d[2 * 130 + 129] == 256 * 5 * 100 + 128 * 6 * 1000);
  std::vector<std::uint16_t> bf16(3 * 130);
  fp8twin::gemm(3, 130, 192, a, a_scale, b, b_scale, std::span<std::uint16_t>(bf16));
  for (std::size_t i = 0; i < d.size(); ++i) REQUIRE(bf16[i] == fp8twin::BF16::rn(d[i]).code);
}

TEST_CASE("entry: gemm with a scale for each row of b, and c") {
  Floats d(3 * 130), rows(130 * 2, 0.5f), c(3 * 130, 7.0f);
  fp8twin::gemm(3, 130, 192, a, a_scale, b, rows, std::span<float>(d), {.b_rows = 1}, c);
  CHECK(d[0] == 256 * 1 * 0.5f + 128 * 2 * 0.5f + 7);
  CHECK_THROWS_WITH(fp8twin::gemm(3, 130, 192, a, a_scale, b, rows, std::span<float>(d)),
                    contains_text("b_scale"));
}

TEST_CASE("entry: K = 0 adds nothing to c, and to no c") {
  Floats d(2, 9.0f), c{-0.0f, 3.0f};
  fp8twin::gemm(1, 2, 0, Codes{}, Floats{}, Codes{}, Floats{}, std::span<float>(d));
  CHECK((d[0] == 0 && d[1] == 0));
  fp8twin::gemm(1, 2, 0, Codes{}, Floats{}, Codes{}, Floats{}, std::span<float>(d), {}, c);
  CHECK((d[0] == 0 && !std::signbit(d[0]) && d[1] == 3));
}

TEST_CASE("entry: wgmma, a chain of two") {
  const Codes x(64 * 64, 0x38), y(8 * 64, 0xb8);
  Floats d(64 * 8), c(64 * 8, 100.0f);
  fp8twin::wgmma(8, 64, x, y, {}, d);
  CHECK(d[511] == -64.0f);
  fp8twin::wgmma(8, 64, x, y, c, d);
  CHECK(d[0] == 36.0f);
}

TEST_CASE("entry: wrong sizes are refused by name") {
  Floats d(3 * 130);
  const std::span<float> out(d);
  CHECK_THROWS_WITH(fp8twin::gemm(4, 130, 192, a, a_scale, b, b_scale, out), contains_text("'a'"));
  CHECK_THROWS_WITH(fp8twin::gemm(3, 130, 192, a, Floats(5), b, b_scale, out), contains_text("'a_scale'"));
  CHECK_THROWS_WITH(fp8twin::gemm(3, 130, 192, a, a_scale, b, b_scale, out.first(5)), contains_text("'d'"));
  CHECK_THROWS_WITH(fp8twin::gemm(3, 130, 192, a, a_scale, b, b_scale, out, {}, Floats(1)),
                    contains_text("'c'"));
  CHECK_THROWS_WITH(fp8twin::gemm(-1, 130, 192, a, a_scale, b, b_scale, out), contains_text("-1"));
  CHECK_THROWS_WITH(fp8twin::gemm(3, 130, 192, a, a_scale, b, b_scale, out, {.b_rows = 64}),
                    contains_text("64"));
  CHECK_THROWS_WITH(fp8twin::wgmma(12, 64, Codes(64 * 64), Codes(12 * 64), {}, out), contains_text("12"));
  CHECK_THROWS_WITH(fp8twin::wgmma(8, 33, Codes(64 * 33), Codes(8 * 33), {}, out), contains_text("33"));
}

TEST_CASE("entry: quantize by a named recipe") {
  Floats x(2 * 130), scales(4);
  x[0] = 6.5f, x[1] = 2.4375f, x[129] = -448;
  Codes codes(2 * 130);
  fp8twin::quantize(2, 130, x, 1, "deepgemm", false, codes, scales);
  CHECK((codes[0] == 0x7e && codes[1] == 0x72 && codes[129] == 0xfe));
  fp8twin::quantize(2, 130, x, 1, "deepgemm-cpu", true, codes, scales);
  CHECK((scales[0] == 0x1p-6f && scales[1] == 1.0f));
  CHECK_THROWS_WITH(fp8twin::quantize(2, 130, x, 1, "gguf", false, codes, scales), contains_text("gguf"));
  CHECK_THROWS_WITH(fp8twin::quantize(2, 130, x, 128, "vllm", false, codes, scales),
                    contains_text("'scales'"));
}
