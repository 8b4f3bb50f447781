// Vector clocks: what a barrier passes on, what two have in common, and what a proxy fence makes visible.
#include "emulator/machine/order.hpp"

#include <utility>

#include "tests/catch.hpp"

using fp8twin::machine::Event;
using fp8twin::machine::Knowledge;

TEST_CASE("whoever has seen nothing knows of nothing but epoch 0") {
  const Knowledge nobody(3);
  for (fp8twin::u32 component = 0; component < 3; ++component) {
    CHECK(nobody.knows({component, 0}));
    CHECK_FALSE(nobody.knows({component, 1}));
    CHECK_FALSE(nobody.knows_fenced({component, 1}));
  }
  CHECK(Knowledge().empty());
  CHECK_FALSE(nobody.empty());
}

TEST_CASE("to know of an epoch is to know of those before it, and learning an older one forgets nothing") {
  Knowledge k(2);
  k.learn({1, 7});
  k.learn({1, 4});
  CHECK(k.knows({1, 1}));
  CHECK(k.knows({1, 7}));
  CHECK_FALSE(k.knows({1, 8}));
  CHECK_FALSE(k.knows({0, 1}));
}

TEST_CASE("join is the larger of both, component by component, and takes in an empty one") {
  Knowledge a(2), b(2), empty;
  a.learn({0, 5});
  b.learn({0, 3});
  b.learn({1, 9});
  Knowledge both = a;
  both.join(b);
  CHECK(both.knows({0, 5}));
  CHECK(both.knows({1, 9}));
  CHECK_FALSE(both.knows({0, 6}));
  empty.join(both);
  CHECK(empty.knows({1, 9}));
  CHECK_FALSE(empty.knows({1, 10}));
}

TEST_CASE("meet is the smaller of both") {
  Knowledge a(2), b(2);
  a.learn({0, 5});
  a.learn({1, 2});
  b.learn({0, 3});
  a.meet(b);
  CHECK(a.knows({0, 3}));
  CHECK_FALSE(a.knows({0, 4}));
  CHECK_FALSE(a.knows({1, 1}));
}

TEST_CASE("a thread's own stores are visible to the async proxy only past a fence") {
  Knowledge k(2);
  k.advance({0, 1});
  CHECK(k.knows({0, 1}));
  CHECK_FALSE(k.knows_fenced({0, 1}));
  k.proxy_fence();
  CHECK(k.knows_fenced({0, 1}));
  k.advance({0, 2});
  CHECK(k.knows({0, 2}));
  CHECK_FALSE(k.knows_fenced({0, 2}));
}

TEST_CASE("a barrier passes on both halves: a fence of one thread does nothing for another's later stores") {
  Knowledge writer(2), reader(2);
  writer.advance({0, 1});
  writer.proxy_fence();
  writer.advance({0, 2});  // stored after the fence
  reader.join(writer);
  CHECK(reader.knows({0, 2}));
  CHECK(reader.knows_fenced({0, 1}));
  CHECK_FALSE(reader.knows_fenced({0, 2}));
}

TEST_CASE("the version grows with every change, so that an equal one means nothing was learnt") {
  Knowledge k(2), other(2);
  fp8twin::u64 before = k.version();
  const auto changed = [&] { return std::exchange(before, k.version()) != k.version(); };
  k.learn({0, 1});
  CHECK(changed());
  k.advance({1, 1});
  CHECK(changed());
  k.proxy_fence();
  CHECK(changed());
  k.join(other);
  CHECK(changed());
  k.meet(other);
  CHECK(changed());
  CHECK_FALSE(changed());
}
