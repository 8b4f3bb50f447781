#include "emulator/number/reduce_add.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {
constexpr std::uint32_t sum(std::uint32_t memory, std::uint32_t value) {
  return f32_bits(reduce_add(f32_from_bits(memory), f32_from_bits(value)));
}
}  // namespace

TEST_CASE("one rounding, to nearest even") {
  CHECK(sum(0x3f800000, 0x33800000) == 0x3f800000);  // 1 + 2^-24: the tie goes to the even one
  CHECK(sum(0x3f800001, 0x33800000) == 0x3f800002);
  CHECK(sum(0x3f800000, 0x33800001) == 0x3f800001);
  CHECK(sum(0x7f7fffff, 0x73000000) == 0x7f800000);  // half a step above the largest number: infinity
  CHECK(sum(0x7f7fffff, 0x72ffffff) == 0x7f7fffff);
}
