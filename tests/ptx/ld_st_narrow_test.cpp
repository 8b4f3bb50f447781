// Loads and stores of less than a word, and of two: the bytes they mean, and a byte's own writer.
#include "emulator/ptx/ld_st_narrow.hpp"

#include <array>

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;
using machine::GlobalMemory;

TEST_CASE("16 bits, two words, one byte") {
  alignas(8) std::array<u32, 4> in = {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c};
  std::array<u8, 4> out{};
  u32 half = 0;
  U32x2 pair;
  run({.threads = 1}, [&] {
    half = ld_global_nc_u16(reinterpret_cast<const u16*>(in.data()) + 3);
    pair = ld_global_nc_v2_u32(&in[2]);
    st_global_u8(&out[1], 0xab);
    st_global_u8(&out[3], 0xcd);
  });
  CHECK(half == 0x0706);
  CHECK((pair.x == 0x0b0a0908 && pair.y == 0x0f0e0d0c));
  CHECK(out == std::array<u8, 4>{0, 0xab, 0, 0xcd});
}

TEST_CASE("neighbouring bytes of several threads: in a range of bytes each has its own writer") {
  std::array<u8, 64> out{};
  const auto kernel = [&] { st_global_u8(&out[tid_x()], static_cast<u8>(tid_x() + 1)); };
  GlobalMemory bytes;
  bytes.add("codes", out.data(), out.size(), GlobalMemory::Access::write_bytes);
  REQUIRE(!fault_of({.threads = 64, .memory = &bytes}, kernel));
  for (u32 i = 0; i < 64; ++i) CHECK(out[i] == i + 1);

  GlobalMemory pairs;
  pairs.add("codes", out.data(), out.size(), GlobalMemory::Access::write);
  const auto fault = fault_of({.threads = 64, .memory = &pairs}, kernel);
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::race);

  GlobalMemory again;
  again.add("codes", out.data(), out.size(), GlobalMemory::Access::write_bytes);
  const auto twice = fault_of({.threads = 2, .memory = &again}, [&] { st_global_u8(&out[7], 1); });
  REQUIRE(twice);
  CHECK_THAT(twice->what(), contains_text("writes offset 7 of 'codes', which thread"));
}

TEST_CASE("misaligned accesses are told") {
  alignas(8) static const std::array<u32, 4> in{};
  GlobalMemory memory;
  memory.add("in", in.data(), sizeof in, GlobalMemory::Access::read);
  expect_fault({.threads = 1, .memory = &memory}, FaultKind::misaligned, "is no multiple of 8",
               [] { ld_global_nc_v2_u32(&in[1]); });
  expect_fault({.threads = 1, .memory = &memory}, FaultKind::misaligned, "is no multiple of 2", [] {
    ld_global_nc_u16(reinterpret_cast<const u16*>(reinterpret_cast<const u8*>(in.data()) + 1));
  });
}
