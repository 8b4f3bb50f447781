// mov.b32: bits of floats as they are, both ways, NaN payloads and signs of zero among them.
#include "emulator/ptx/mov.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("a float's bits, and back") {
  CHECK(mov_b32_f32(1.0f) == 0x3f800000u);
  CHECK(mov_b32_f32(-0.0f) == 0x80000000u);
  CHECK(mov_f32_b32(0x43e00000u) == 448.0f);
  for (const u32 bits : {0u, 1u, 0x7f800000u, 0x7f800001u, 0xffc12345u, 0x7fffffffu, 0xffffffffu}) {
    CHECK(mov_b32_f32(mov_f32_b32(bits)) == bits);
  }
}
