// Fences: what a fence.proxy.async makes visible, and what the others do not.
#include "emulator/ptx/fence.hpp"

#include "tests/machine/wgmma_operands.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

/// A and B stored by all, `before` the barrier, `after` it, then one product.
template <class Before, class After>
auto product(const Operands& o, Before before, After after) {
  return [&o, before, after] {
    store(o.a, 0);
    store(o.b, b_offset);
    before();
    bar_sync(0, 128);
    after();
    Accumulator<8> d;
    wgmma_fence(d);
    mma(d, 0);
    wgmma_commit_group();
    wgmma_wait_group<0>(d);
  };
}

constexpr auto nothing = [] {};

}  // namespace

TEST_CASE("the fence may stand on either side of the barrier, and nothing else will do") {
  const Operands o(1);
  expect_clean(warpgroup, product(
                              o, [] { fence_proxy_async_shared_cta(); }, nothing));
  expect_clean(warpgroup, product(o, nothing, [] { fence_proxy_async_shared_cta(); }));
  expect_fault(warpgroup, FaultKind::missing_proxy_fence, "fence.proxy.async", product(o, nothing, nothing));
  const auto ordinary = [] {
    fence_acq_rel_cta();
    fence_acq_rel_cluster();
    fence_acq_rel_gpu();
  };
  expect_fault(warpgroup, FaultKind::missing_proxy_fence, "fence.proxy.async",
               product(o, ordinary, ordinary));
}

TEST_CASE("one thread that forgets its fence is enough") {
  const Operands o(2);
  expect_fault(warpgroup, FaultKind::missing_proxy_fence, "fence.proxy.async",
               product(
                   o,
                   [] {
                     if (tid_x() != 77) fence_proxy_async_shared_cta();
                   },
                   nothing));
}

TEST_CASE("a fence is no barrier") {
  expect_fault({.threads = 64}, FaultKind::race, "shared 0x4", [] {
    st_shared_u32(dynamic_shared() + 4 * tid_x(), 0);
    bar_sync(0, 64);
    st_shared_u32(dynamic_shared() + 4 * tid_x(), 1);
    fence_acq_rel_gpu();
    fence_proxy_async_shared_cta();
    ld_shared_u32(dynamic_shared() + 4 * (63 - tid_x()));
  });
}
