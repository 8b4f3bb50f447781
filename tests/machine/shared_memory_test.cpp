// Shared memory and its checkers: bounds, alignment, poison, and every pair of accesses that no barrier orders.
#include "emulator/machine/shared_memory.hpp"

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;
using machine::Actor;
using machine::Fault;
using machine::Knowledge;
using machine::SharedMemory;

namespace {

constexpr u32 base = SharedMemory::base;

/// An access without a kernel around it.
struct Hand {
  Knowledge knowledge = Knowledge(4);
  u32 component;
  bool async;
  explicit Hand(u32 c, bool a = false) : component(c), async(a) { knowledge.advance({c, 1}); }
  Actor actor() {
    return {"by hand", {"x_test.cpp", 1}, static_cast<int>(component), 0, 0, {component, 1}, &knowledge,
            async};
  }
};

FaultKind kind_of(const std::function<void()>& access) {
  try {
    access();
  } catch (const Fault& fault) {
    return fault.kind;
  }
  FAIL("no fault");
  return {};
}

}  // namespace

TEST_CASE("addresses: the first KiB is the system's, a block's rank is in the top byte") {
  SharedMemory memory;
  memory.reset(0, 64, true);
  CHECK(memory.begin() == 0x400);
  memory.reset(3, 64, true);
  CHECK(memory.begin() == 0x03000400);
  CHECK(memory.size() == 64);
}

TEST_CASE("bounds and alignment") {
  SharedMemory memory;
  memory.reset(0, 64, true);
  Hand me(0);
  memory.need(me.actor(), base, 64, 16);
  memory.need(me.actor(), base + 60, 4, 4);
  CHECK(kind_of([&] { memory.need(me.actor(), base - 4, 4, 4); }) == FaultKind::out_of_bounds);
  CHECK(kind_of([&] { memory.need(me.actor(), base + 64, 4, 4); }) == FaultKind::out_of_bounds);
  CHECK(kind_of([&] { memory.need(me.actor(), base + 56, 16, 4); }) == FaultKind::out_of_bounds);
  CHECK(kind_of([&] { memory.need(me.actor(), base, 68, 4); }) == FaultKind::out_of_bounds);
  CHECK(kind_of([&] { memory.need(me.actor(), 0xfffffffcu, 4, 4); }) == FaultKind::out_of_bounds);
  CHECK(kind_of([&] { memory.need(me.actor(), 1u << 24 | base, 4, 4); }) == FaultKind::out_of_bounds);
  CHECK(kind_of([&] { memory.need(me.actor(), base + 2, 4, 4); }) == FaultKind::misaligned);
  CHECK(kind_of([&] { memory.need(me.actor(), base + 8, 16, 16); }) == FaultKind::misaligned);
}

TEST_CASE("poison: every byte begins as 0xff, and a read of one that nobody wrote is told") {
  SharedMemory memory;
  memory.reset(0, 16, true);
  Hand me(0);
  for (u32 i = 0; i < 16; ++i) CHECK(*memory.data(base + i) == 0xff);
  CHECK(kind_of([&] { memory.read(me.actor(), base, 4); }) == FaultKind::uninitialised);
  memory.write(me.actor(), base + 4, 2);  // half a word
  memory.read(me.actor(), base + 4, 2);
  CHECK(kind_of([&] { memory.read(me.actor(), base + 4, 4); }) == FaultKind::uninitialised);
  CHECK(kind_of([&] { memory.read(me.actor(), base + 6, 1); }) == FaultKind::uninitialised);
  memory.write(me.actor(), base + 6, 2);
  memory.read(me.actor(), base + 4, 4);
  CHECK(kind_of([&] { memory.read(me.actor(), base + 2, 4); }) == FaultKind::uninitialised);
}

TEST_CASE("two writers of different bytes of a word are no race; of the same byte they are") {
  SharedMemory memory;
  memory.reset(0, 16, true);
  Hand a(0), b(1);
  memory.write(a.actor(), base, 2);
  memory.write(b.actor(), base + 2, 2);
  CHECK(kind_of([&] { memory.write(a.actor(), base + 2, 1); }) == FaultKind::race);
}

TEST_CASE("the async proxy must know of a generic write through a fence, of its own kind's without") {
  SharedMemory memory;
  memory.reset(0, 16, true);
  Hand writer(0), tma(1, true), reader(2, true);
  memory.write(writer.actor(), base, 4);
  reader.knowledge.join(writer.knowledge);
  CHECK(kind_of([&] { memory.read(reader.actor(), base, 4); }) == FaultKind::missing_proxy_fence);
  CHECK_FALSE(memory.written_by_tma(base));
  reader.knowledge.proxy_fence();
  memory.read(reader.actor(), base, 4);
  memory.write(tma.actor(), base + 4, 4);
  CHECK(memory.written_by_tma(base + 4));
  reader.knowledge.join(tma.knowledge);
  memory.read(reader.actor(), base + 4, 4);
}

TEST_CASE("without checks the bounds are kept and nothing else") {
  SharedMemory memory;
  memory.reset(0, 16, false);
  Hand a(0), b(1);
  memory.read(a.actor(), base, 4);
  memory.write(a.actor(), base, 4);
  memory.write(b.actor(), base, 4);
  CHECK(kind_of([&] { memory.need(a.actor(), base + 16, 4, 4); }) == FaultKind::out_of_bounds);
}

TEST_CASE("a load of what nobody stored names the line, the thread and the address") {
  const auto fault = fault_of({}, [] {
    if (tid_x() == 5) ld_shared_u32(dynamic_shared() + 8);
  });
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::uninitialised);
  CHECK(fault->thread == 5);
  CHECK(fault->address == base + 8);
  CHECK_THAT(fault->what(), contains_text("shared_memory_test.cpp:"));
  CHECK_THAT(fault->what(),
             contains_text("thread 5 of block (0,0): ld.shared reads shared 0x408, which nobody"));
}

TEST_CASE("read after write: ordered by a barrier, or a race") {
  std::vector<u32> seen(64);
  const auto kernel = [&](bool barrier) {
    const u32 me = tid_x(), other = me ^ 32, at = dynamic_shared();
    st_shared_u32(at + 4 * me, 100 + me);
    bar_sync(0, 64);
    st_shared_u32(at + 4 * me, 200 + me);
    if (barrier) bar_sync(0, 64);
    seen[me] = ld_shared_u32(at + 4 * other);
  };
  expect_clean(
      {.threads = 64}, [&] { kernel(true); },
      [&] {
        for (u32 i = 0; i < 64; ++i) CHECK(seen[i] == 200 + (i ^ 32));
      });
  // Which of the two accesses comes second is the schedule's choice: both are told.
  expect_fault({.threads = 64}, FaultKind::race, "nothing it has waited for says that",
               [&] { kernel(false); });
}

TEST_CASE("write after read: the reader must be known to be done") {
  const auto kernel = [](bool barrier) {
    const u32 at = dynamic_shared();
    if (tid_x() == 0) st_shared_u32(at, 1);
    bar_sync(0, 64);
    if (tid_x() == 40) ld_shared_u32(at);
    if (barrier) bar_sync(0, 64);
    if (tid_x() == 0) st_shared_u32(at, 2);
  };
  expect_clean({.threads = 64}, [&] { kernel(true); });
  expect_fault({.threads = 64}, FaultKind::race, "shared 0x400", [&] { kernel(false); });
}

TEST_CASE("write after write by another thread") {
  expect_fault({.threads = 64}, FaultKind::race, "the write by st.shared", [] {
    if (tid_x() % 32 == 3) st_shared_u32(dynamic_shared(), tid_x());
  });
}

TEST_CASE("one of two reading warps left out of the barrier is enough") {
  const auto kernel = [](bool all) {
    const u32 at = dynamic_shared(), me = tid_x(), warp = me / 32;
    if (me == 0) st_shared_u32(at, 1);
    bar_sync(0, 96);
    if (warp < 2) ld_shared_u32(at);
    if (warp == 0 && !all) return;  // its arrival is made up for by warp 2, which arrives twice
    if (warp == 2 && !all) bar_arrive(1, 96);
    bar_sync(1, 96);
    if (me == 95) st_shared_u32(at, 2);
  };
  expect_clean({.threads = 96}, [&] { kernel(true); });
  expect_fault({.threads = 96}, FaultKind::race, "overwrites shared 0x400", [&] { kernel(false); });
}

TEST_CASE("a thread may read and write its own words as it likes") {
  std::vector<u32> seen(32);
  expect_clean({}, [&] {
    const u32 at = dynamic_shared() + 16 * tid_x();
    st_shared_v4_u32(at, {1, 2, 3, 4});
    for (u32 i = 0; i < 100; ++i) st_shared_u32(at, ld_shared_u32(at) + 1);
    const U32x4 v = ld_shared_v4_u32(at);
    seen[tid_x()] = v.x + v.y + v.z + v.w;
  });
  CHECK(seen == std::vector<u32>(32, 110));
}

TEST_CASE("an mbarrier's eight bytes are nobody's data") {
  const auto kernel = [](u32 offset, bool store) {
    const u32 bar = dynamic_shared() + 64;
    st_shared_v4_u32(bar, {});
    mbarrier_init_b64(bar, 1);
    if (store) {
      st_shared_u32(bar + offset, 1);
    } else {
      ld_shared_u32(bar + offset);
    }
  };
  expect_clean({.threads = 1}, [&] { kernel(8, true); });
  expect_fault({.threads = 1}, FaultKind::barrier_use, "writes shared 0x440, which holds an mbarrier",
               [&] { kernel(0, true); });
  expect_fault({.threads = 1}, FaultKind::barrier_use, "reads shared 0x444, which holds an mbarrier",
               [&] { kernel(4, false); });
}
