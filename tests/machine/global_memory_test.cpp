// What a launch may touch: ranges by name, inputs that stay as they are, each output element written by one thread.
#include "emulator/machine/global_memory.hpp"

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;
using machine::GlobalMemory;

namespace {

struct Arrays {
  alignas(16) u32 in[64] = {};
  alignas(16) u32 out[64] = {};
  GlobalMemory memory;
  Arrays() {
    memory.add("in", in, sizeof in, GlobalMemory::Access::read);
    memory.add("out", out, sizeof out, GlobalMemory::Access::write);
  }
  Setup setup(u32 threads) { return {.threads = threads, .memory = &memory}; }
};

}  // namespace

TEST_CASE("reads and writes inside the ranges go through") {
  Arrays arrays;
  for (u32 i = 0; i < 64; ++i) arrays.in[i] = 3 * i;
  expect_clean(
      arrays.setup(64),
      [&] {
        st_global_u32(arrays.out + tid_x(), ld_global_u32(arrays.in + tid_x()) + ld_global_nc_u32(arrays.in));
      },
      [&] {
        for (u32 i = 0; i < 64; ++i) CHECK(arrays.out[i] == 3 * i);
      });
}

TEST_CASE("outside: told by name, offset and size") {
  Arrays arrays;
  alignas(16) u32 stranger[64] = {};
  const u32* const end = arrays.in + 64;
  expect_fault(arrays.setup(1), FaultKind::out_of_bounds,
               "ld.global reads 16 bytes at offset 248 of 'in', which has 256 bytes", [&] {
                 // Alignment is looked at first, so a range of its own with 8 bytes to spare.
                 GlobalMemory& memory = arrays.memory;
                 memory.need_readable(machine::self().actor("ld.global", machine::Site::here()),
                                      reinterpret_cast<u64>(end) - 8, 16, 8);
               });
  const auto fault = fault_of(arrays.setup(1), [&] { ld_global_u32(stranger + 1); });
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::out_of_bounds);
  GlobalMemory empty;
  expect_fault({.threads = 1, .memory = &empty}, FaultKind::out_of_bounds,
               "reads 4 bytes at a global address that the launch was not given",
               [&] { ld_global_u32(stranger); });
}

TEST_CASE("an input is not written") {
  Arrays arrays;
  expect_fault(arrays.setup(1), FaultKind::out_of_bounds, "writes offset 8 of 'in', which is an input",
               [&] { st_global_u32(arrays.in + 2, 1); });
  CHECK(arrays.in[2] == 0);
}

TEST_CASE("alignment to the access's size") {
  Arrays arrays;
  const auto* bytes = reinterpret_cast<const u8*>(arrays.in);
  expect_fault(arrays.setup(1), FaultKind::misaligned, "is no multiple of 16",
               [&] { ld_global_nc_v4_u32(bytes + 8); });
  expect_fault(arrays.setup(1), FaultKind::misaligned, "is no multiple of 16",
               [&] { st_global_v4_u32(arrays.out + 1, {}); });
}

TEST_CASE("a second writer is told, in another block too; the first may write again") {
  Arrays mine;
  expect_clean(mine.setup(32), [&] {
    for (u32 i = 0; i < 3; ++i) st_global_u32(mine.out + tid_x(), i);
  });
  Arrays theirs;
  expect_fault(theirs.setup(64), FaultKind::race, "has written already",
               [&] { st_global_u32(theirs.out + tid_x() % 32, 1); });
  Arrays blocks;
  Setup setup = blocks.setup(1);
  setup.grid = {1, 3};
  const auto fault =
      fault_of(setup, [&] { st_global_u16(reinterpret_cast<u16*>(blocks.out) + 1 - ctaid_y() % 2, 1); });
  REQUIRE(fault);
  CHECK_THAT(fault->what(),
             contains_text("thread 0 of block (0,2): st.global writes offset 2 of 'out', which thread 0 of "
                           "block 0 of the grid has written already"));
}

TEST_CASE("read_write: read, written, and the only one to add to") {
  alignas(16) u32 both[64] = {};
  Arrays arrays;
  arrays.memory.add("both", both, sizeof both, GlobalMemory::Access::read_write);
  const auto add_to = [&](const u32* at, u32 thread) {
    arrays.memory.add_to(machine::self().actor("add", machine::Site::here()), reinterpret_cast<u64>(at), 8, 4,
                         thread);
  };
  run(arrays.setup(1), [&] {
    st_global_u32(both + 2, ld_global_u32(both + 1) + 5);
    add_to(both + 2, 0);
    add_to(both + 2, 0);
  });
  CHECK(both[2] == 5);
  const auto second = fault_of(arrays.setup(1), [&] { add_to(both + 1, 7); });
  REQUIRE(second);
  CHECK(second->kind == FaultKind::race);
  CHECK_THAT(second->what(),
             contains_text("writes offset 8 of 'both', which thread 0 of block 0 of the grid"));
  expect_fault(arrays.setup(1), FaultKind::uninitialised,
               "adds to offset 4 of 'out', which the launch was given", [&] { add_to(arrays.out + 1, 0); });
  expect_fault(arrays.setup(1), FaultKind::out_of_bounds, "writes offset 4 of 'in', which is an input",
               [&] { add_to(arrays.in + 1, 0); });
  expect_fault(arrays.setup(1), FaultKind::out_of_bounds, "adds to 8 bytes at offset 252 of 'both'",
               [&] { add_to(both + 63, 0); });
}

TEST_CASE("without a list of ranges nothing is asked") {
  u32 out = 0;
  run({.threads = 1}, [&] { st_global_u32(&out, 5); });
  CHECK(out == 5);
}
