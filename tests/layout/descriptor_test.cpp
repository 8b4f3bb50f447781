// The matrix descriptor: every field alone, both ways, and the example of the command page.
#include "emulator/layout/descriptor.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("descriptor: the example") {
  constexpr MatrixDescriptor example{1024, 16, 1024, 0, SwizzleMode::b128};
  STATIC_REQUIRE(encode(example) == 0x4000004000010040u);
  STATIC_REQUIRE(decode_descriptor(0x4000004000010040u) == example);
}

TEST_CASE("descriptor: each field round-trips and touches no other field's bits") {
  u64 used = 0;
  for (u32 bytes = 0; bytes < 1u << 18; bytes += 16) {
    for (const MatrixDescriptor& d :
         {MatrixDescriptor{bytes}, MatrixDescriptor{0, bytes}, MatrixDescriptor{0, 0, bytes}}) {
      REQUIRE(decode_descriptor(encode(d)) == d);
      used |= encode(d);
    }
  }
  for (u32 base = 0; base < 8; ++base) {
    for (const SwizzleMode mode :
         {SwizzleMode::none, SwizzleMode::b128, SwizzleMode::b64, SwizzleMode::b32}) {
      const MatrixDescriptor d{0, 0, 0, base, mode};
      REQUIRE(decode_descriptor(encode(d)) == d);
      used |= encode(d);
    }
  }
  CHECK(used == ~descriptor_unused_bits);
}

TEST_CASE("descriptor: advancing 32 bytes along K adds 2 to the word") {
  const MatrixDescriptor d{4096, 0, 1024, 0, SwizzleMode::b128};
  MatrixDescriptor next = d;
  next.start_address += 32;
  CHECK(encode(next) == encode(d) + 2);
}
