// A second opinion: the conversions of CUDA's own headers, which run on the host too.
//
// Words near every rounding boundary are all there: the full list of BF16 and binary16 words widened, and
// every float whose low bits are a stride apart. The exhaustive run is all_floats_test.cpp, against this
// project's oracle.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "emulator/number/bf16.hpp"
#include "emulator/number/e4m3.hpp"
#include "emulator/number/e5m2.hpp"
#include "emulator/number/f16.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

/// Calls body(x) for about a million floats: every BF16 and F16 value, and 2^20 words a prime stride apart.
template <class Body>
void for_many_floats(const Body& body) {
  for (std::uint32_t word = 0; word < 65536; ++word) {
    body(f32_from_bits(word << 16));
    body(F16{static_cast<std::uint16_t>(word)}.value());
  }
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4093) {
    body(f32_from_bits(static_cast<std::uint32_t>(bits)));
  }
}

}  // namespace

TEST_CASE("__nv_cvt_float_to_fp8 with __NV_SATFINITE agrees, NaN included") {
  for_many_floats([](float x) {
    REQUIRE(E4M3::satfinite(x).code == __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3));
    REQUIRE(E5M2::satfinite(x).code == __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2));
  });
}

TEST_CASE("__nv_cvt_float_to_fp8 with __NV_NOSAT agrees, NaN included") {
  for_many_floats([](float x) {
    REQUIRE(E4M3::nonsaturating(x).code == __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3));
    REQUIRE(E5M2::nonsaturating(x).code == __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2));
  });
}

TEST_CASE("all 256 codes of each format decode to the same value") {
  for (int code = 0; code < 256; ++code) {
    __nv_fp8_e4m3 e4m3;
    __nv_fp8_e5m2 e5m2;
    e4m3.__x = e5m2.__x = static_cast<__nv_fp8_storage_t>(code);
    const float ours4 = E4M3{e4m3.__x}.value(), theirs4 = static_cast<float>(e4m3);
    const float ours5 = E5M2{e5m2.__x}.value(), theirs5 = static_cast<float>(e5m2);
    CHECK((f32_bits(ours4) == f32_bits(theirs4) || (is_nan(ours4) && is_nan(theirs4))));
    CHECK((f32_bits(ours5) == f32_bits(theirs5) || (is_nan(ours5) && is_nan(theirs5))));
  }
}

TEST_CASE("__float2bfloat16_rn agrees, NaN included") {
  for_many_floats([](float x) {
    const __nv_bfloat16 theirs = __float2bfloat16_rn(x);
    std::uint16_t word;
    std::memcpy(&word, &theirs, sizeof word);
    REQUIRE(BF16::rn(x).code == word);
  });
}
