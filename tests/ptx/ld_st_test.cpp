// ld and st: every width to the bytes it means, whatever the hint; lines of the kernel in what is reported.
#include "emulator/ptx/ld_st.hpp"

#include <array>
#include <cstring>

#include "emulator/ptx/ld_st_narrow.hpp"
#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

TEST_CASE("shared: words, floats and vectors are the same little-endian bytes") {
  std::array<u32, 6> seen{};
  float f = 0;
  U32x4 v;
  F32x2 pair;
  expect_clean(
      {.threads = 1},
      [&] {
        const u32 at = dynamic_shared();
        st_shared_v4_u32(at, {0x03020100, 0x07060504, 0x0b0a0908, 0x3f800000});
        for (u32 i = 0; i < 4; ++i) seen[i] = ld_shared_u32(at + 4 * i);
        f = ld_shared_f32(at + 12);
        st_shared_f32(at + 16, -2.0f);
        st_shared_u32(at + 20, 9);
        st_shared_u32(at + 24, 10);
        st_shared_u32(at + 28, 11);
        v = ld_shared_v4_u32(at + 16);
        pair = ld_shared_v2_f32(at + 8);
      },
      [&] {
        CHECK(seen == std::array<u32, 6>{0x03020100, 0x07060504, 0x0b0a0908, 0x3f800000, 0, 0});
        CHECK(f == 1.0f);
        CHECK(v.x == 0xc0000000);
        CHECK((f32_bits(pair.x) == 0x0b0a0908 && pair.y == 1.0f));
        CHECK((v.y == 9 && v.z == 10 && v.w == 11));
      });
}

TEST_CASE("global: every width, every hint") {
  alignas(16) std::array<u32, 8> in{}, out{};
  for (u32 i = 0; i < 8; ++i) in[i] = 0x3f800000 + (i << 20);
  u32 bytes = 0, words = 0;
  float floats = 0;
  run({.threads = 1}, [&] {
    const u8* b = reinterpret_cast<const u8*>(in.data());
    const float* f = reinterpret_cast<const float*>(in.data());
    bytes = ld_global_nc_u8(b + 3) << 8 | ld_global_nc_u8(b + 2);
    words = ld_global_u32(&in[1]) - ld_global_nc_u32<CacheHint::evict_last>(&in[0]);
    floats = ld_global_f32<CacheHint::evict_first>(f) + ld_global_nc_f32<CacheHint::no_allocate>(f + 2);
    st_global_v4_u32<CacheHint::no_allocate>(&out[4], ld_global_nc_v4_u32<CacheHint::evict_first>(&in[0]));
    st_global_u32<CacheHint::evict_last>(&out[0], 7);
    st_global_f32(reinterpret_cast<float*>(&out[1]), 1.0f);
    st_global_u16(reinterpret_cast<u16*>(&out[2]) + 1, 0xabcd);
  });
  CHECK(bytes == 0x3f80);
  CHECK(words == 1 << 20);
  CHECK(floats == 1.0f + f32_from_bits(in[2]));
  CHECK(out == std::array<u32, 8>{7, 0x3f800000, 0xabcd0000, 0, in[0], in[1], in[2], in[3]});
}

TEST_CASE("what is off its alignment is told with the instruction and the line") {
  const Setup one{.threads = 1};
  expect_fault(one, FaultKind::misaligned, "st.shared: shared address 0x402 is no multiple of 4",
               [] { st_shared_u32(dynamic_shared() + 2, 0); });
  expect_fault(one, FaultKind::misaligned, "ld.shared: shared address 0x404 is no multiple of 16",
               [] { ld_shared_v4_u32(dynamic_shared() + 4); });
  const auto fault = fault_of(one, [] { ld_shared_f32(dynamic_shared() + 4); });
  REQUIRE(fault);
  CHECK(fault->site.line == __LINE__ - 2);
  CHECK_THAT(fault->what(), contains_text("tests/ptx/ld_st_test.cpp:"));
}
