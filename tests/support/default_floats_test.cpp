// What the caller has set changes no bit of the main functions, and is as it was afterwards.
#include "emulator/support/default_floats.hpp"

#include <vector>

#include "emulator/model/distribution.hpp"
#include "emulator/number/float_bits.hpp"
#include "fp8twin/model.hpp"
#include "tests/catch.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

using namespace fp8twin;

namespace {

/// A GEMM and a quantisation among subnormal scales and values.
struct Work {
  std::vector<std::uint8_t> a = std::vector<std::uint8_t>(70 * 300), b = std::vector<std::uint8_t>(70 * 300),
                            codes = a;
  std::vector<float> a_scale = std::vector<float>(70 * 3, 1e-20f),
                     b_scale = std::vector<float>(1 * 3, 1e-21f);
  std::vector<float> d = std::vector<float>(70 * 70), x = std::vector<float>(70 * 300), scales = a_scale;

  Work() {
    fill_codes(Distribution::uniform, 1, Operand::a, 300, a);
    fill_codes(Distribution::uniform, 1, Operand::b, 300, b);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = f32_from_bits(static_cast<std::uint32_t>(i * 2654435761u) & 0x807fffff);
    }
    gemm(70, 70, 300, a, a_scale, b, b_scale, std::span(d));
    quantize(70, 300, x, 1, "te", false, codes, scales);
  }
  friend bool operator==(const Work&, const Work&) = default;
};

}  // namespace

TEST_CASE("another rounding mode changes no bit and stays") {
  const Work usual;
  std::fesetround(FE_UPWARD);
  const Work upward;
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK(after == FE_UPWARD);
  CHECK(usual == upward);
}

#if defined(__SSE2__)
TEST_CASE("subnormals flushed to zero by the caller change no bit and stay so") {
  const Work usual;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  const Work flushed;
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK((after & 0x8040) == 0x8040);
  CHECK(usual == flushed);
}
#endif
