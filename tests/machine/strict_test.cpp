// Mistakes that a card forgives until it does not, each in the smallest kernel that makes it; and its correct twin, which is not accused.
#include "emulator/layout/descriptor.hpp"
#include "tests/machine/tma_tensor.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

constexpr Setup warp{.threads = 32, .shared_bytes = shared_bytes};
constexpr Setup block{.threads = 128, .shared_bytes = shared_bytes};
constexpr Setup pair{.threads = 32, .grid = {2, 1}, .cluster = {2, 1}};

}  // namespace

TEST_CASE("fence.mbarrier_init fences mbarriers and nothing else") {
  const TensorMap map = machine::encode_tensor_map(
      describe(shared_tensor(), SwizzleMode::none, TensorElement::uint8, 64, 4, 0));
  const auto store = [&](bool right) {
    st_shared_v4_u32(dynamic_shared() + 16 * tid_x(), {});
    right ? fence_proxy_async_shared_cta() : fence_mbarrier_init_release_cluster();
    bar_sync(0, 32);
    if (tid_x() == 0) {
      cp_async_bulk_tensor_2d_global_shared(map, 0, 0, dynamic_shared());
      cp_async_bulk_commit_group();
      cp_async_bulk_wait_group<0>();
    }
  };
  expect_fault(warp, FaultKind::missing_proxy_fence, "reads shared 0x400", [&] { store(false); });
}

TEST_CASE("TMA over what threads stored: a proxy fence between the two") {
  const TensorMap map = machine::encode_tensor_map(
      describe(shared_tensor(), SwizzleMode::none, TensorElement::uint8, 64, 4, 0));
  const auto reuse = [&](bool fence) {
    const u32 bar = dynamic_shared() + 8192;
    shared_mbarrier(bar, 1, 32);
    st_shared_v4_u32(dynamic_shared() + 16 * tid_x(), {});
    if (fence) fence_proxy_async_shared_cta();
    bar_sync(0, 32);
    if (tid_x() == 0) {
      mbarrier_arrive_expect_tx_b64(bar, 256);
      cp_async_bulk_tensor_2d_shared_global(dynamic_shared(), map, 0, 0, bar);
    }
    wait_for(bar, 0);
  };
  expect_clean(warp, [&] { reuse(true); });
  expect_fault(warp, FaultKind::missing_proxy_fence, "over what st.shared", [&] { reuse(false); });
}

TEST_CASE("a block waits for the arrivals of its cluster before it ends") {
  const auto arrive = [](bool barrier_at_end) {
    const u32 bar = dynamic_shared();
    if (tid_x() == 0) {
      mbarrier_init_b64(bar, 1);
      fence_mbarrier_init_release_cluster();
    }
    barrier_cluster_arrive();
    barrier_cluster_wait();
    if (cluster_ctarank() == 0 && tid_x() == 0)
      mbarrier_arrive_shared_cluster_b64(mapa_shared_cluster_u32(bar, 1));
    if (barrier_at_end) {
      barrier_cluster_arrive();
      barrier_cluster_wait();
    }
  };
  expect_clean(pair, [&] { arrive(true); });
  for (const Turn turn : every_turn()) {
    INFO(turn_text(turn));
    const auto fault = fault_of(
        pair, [&] { arrive(false); }, turn);
    REQUIRE(fault);
    CHECK(fault->kind == FaultKind::unfinished);
  }
}

TEST_CASE("a relaxed arrival at the cluster barrier: mbarriers past their fence, and nothing else") {
  const auto meet = [](bool fence, bool store) {
    const u32 bar = dynamic_shared(), word = dynamic_shared() + 64;
    if (tid_x() == 0) {
      mbarrier_init_b64(bar, 1);
      if (fence) fence_mbarrier_init_release_cluster();
      if (store) st_shared_u32(word, 7);
    }
    barrier_cluster_arrive_relaxed();
    barrier_cluster_wait();
    if (cluster_ctarank() == 0 && tid_x() == 1)
      mbarrier_arrive_shared_cluster_b64(mapa_shared_cluster_u32(bar, 1));
    if (store && tid_x() == 1) ld_shared_u32(word);
    if (cluster_ctarank() == 1 && tid_x() == 2) wait_for(bar, 0);  // it may not leave before that arrival
  };
  expect_clean(pair, [&] { meet(true, false); });
  for (const Turn turn : every_turn()) {
    INFO(turn_text(turn));
    const auto stored = fault_of(
        pair, [&] { meet(true, true); }, turn);
    REQUIRE(stored);
    CHECK((stored->kind == FaultKind::race || stored->kind == FaultKind::uninitialised));
    const auto unfenced = fault_of(
        pair, [&] { meet(false, false); }, turn);
    REQUIRE(unfenced);
  }
}

TEST_CASE("named barriers count whole warps, and teach only their own round") {
  expect_fault(block, FaultKind::disagreement, "and a warp comes as a whole", [] {
    if (laneid() < 16 && tid_x() < 64) bar_sync(1, 32);
  });
  // Two pairs of warps by the same barrier: nothing keeps a pair together, or orders one after the other.
  for (const Turn turn : every_turn()) {
    INFO(turn_text(turn));
    const auto fault = fault_of(
        block,
        [] {
          const u32 number = tid_x() / 32;
          if (number == 0) st_shared_u32(dynamic_shared() + 4 * laneid(), 1);
          bar_sync(1, 64);
          if (number >= 2) st_shared_u32(dynamic_shared() + 4 * laneid() + 128 * (number - 2), 2);
        },
        turn);
    REQUIRE(fault);
    CHECK((fault->kind == FaultKind::race || fault->kind == FaultKind::disagreement));
  }
}

TEST_CASE("setmaxnreg: all four warps of a warpgroup") {
  expect_clean(block, [] { setmaxnreg_dec<40>(); });
  expect_fault(block, FaultKind::disagreement, "all four warps of a warpgroup", [] {
    if (tid_x() < 32) setmaxnreg_dec<40>();
  });
}

TEST_CASE("bar.warp.sync on two lines of a branch is one barrier; elect.sync is not") {
  expect_clean(warp, [] {
    if (laneid() == 0) {
      bar_warp_sync(0xffffffffu);
    } else {
      bar_warp_sync(0xffffffffu);
    }
  });
  expect_fault(warp, FaultKind::disagreement, "all 32 lanes must execute the same", [] {
    if (laneid() == 0) {
      elect_sync(0xffffffffu);
    } else {
      elect_sync(0xffffffffu);
    }
  });
}

TEST_CASE("a loop around a load lets others go first, and ends where nobody stores") {
  u32 flag = 0;
  expect_clean(
      block,
      [&] {
        if (tid_x() == 0) {
          while (ld_global_u32(&flag) == 0) {
          }
        }
        if (tid_x() == 127) st_global_u32(&flag, 1);
      },
      [&] { flag = 0; });
  const auto fault = fault_of(warp, [&] {
    while (tid_x() == 0 && ld_global_u32(&flag) == 0) {
    }
  });
  REQUIRE(fault);
  CHECK(fault->kind == FaultKind::deadlock);
  CHECK_THAT(fault->what(), contains_text("loads without a wait"));
}

TEST_CASE("a descriptor in another swizzle than TMA wrote") {
  TensorMapDescription tile = describe(shared_tensor(), SwizzleMode::b64, TensorElement::uint8, 64, 64, 0);
  tile.size[1] = 64;
  const TensorMap map = machine::encode_tensor_map(tile);
  for (const SwizzleMode read : {SwizzleMode::b64, SwizzleMode::b32}) {
    const auto kernel = [&, read] {
      const u32 a = dynamic_shared(), b = a + 4096, bar = a + 8192;
      shared_mbarrier(bar, 1, 128);
      if (tid_x() == 0) {
        mbarrier_arrive_expect_tx_b64(bar, 2 * 4096);
        cp_async_bulk_tensor_2d_shared_global(a, map, 0, 0, bar);
        cp_async_bulk_tensor_2d_shared_global(b, map, 0, 0, bar);
      }
      wait_for(bar, 0);
      Accumulator<8> d;
      wgmma_fence(d);
      wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, encode(MatrixDescriptor{a, 0, 512, 0, read}),
                                           encode(MatrixDescriptor{b, 0, 512, 0, SwizzleMode::b64}), 0);
      wgmma_commit_group();
      wgmma_wait_group<0>(d);
    };
    if (read == SwizzleMode::b64) {
      expect_clean(block, kernel);
    } else {
      const auto fault = fault_of(block, kernel);
      REQUIRE(fault);
      CHECK(fault->kind == FaultKind::descriptor);
      CHECK_THAT(fault->what(), contains_text("has a swizzle of 32 bytes, but TMA wrote"));
    }
  }
}
