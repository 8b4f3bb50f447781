// stmatrix against a plain loop: x1, x2 and x4, as they are and transposed, rows anywhere.
#include "emulator/ptx/stmatrix.hpp"

#include <cstring>

#include "tests/machine/small_kernel.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

/// Element (row, column) of matrix `matrix` of a warp: a value of its own.
u16 element(u32 warp, u32 matrix, u32 row, u32 column) {
  return static_cast<u16>(1000 * warp + 100 * matrix + 8 * row + column + 1);
}

/// The register of `lane`: two neighbours of a row (l/4), or of a column where the matrix is stored transposed.
u32 fragment(u32 warp, u32 matrix, u32 lane, bool transposed) {
  u32 halves = 0;
  for (u32 half = 0; half < 2; ++half) {
    const u32 line = lane / 4, place = 2 * (lane % 4) + half;
    halves |= u32{transposed ? element(warp, matrix, place, line) : element(warp, matrix, line, place)}
              << 16 * half;
  }
  return halves;
}

/// Where row `row` of matrix `matrix` goes: 16-byte places in an order that no formula of the machine knows.
u32 place(u32 warp, u32 matrix, u32 row) { return 16 * ((warp * 32 + matrix * 8 + row) * 37 % 64); }

void check(u32 count, bool transposed, const std::function<void(u32 address, const U32x4& v)>& store) {
  std::vector<u16> seen(64 * 8), expected(64 * 8, 0);
  for (u32 warp = 0; warp < 2; ++warp) {
    for (u32 matrix = 0; matrix < count; ++matrix) {
      for (u32 row = 0; row < 8; ++row) {
        for (u32 column = 0; column < 8; ++column)
          expected[place(warp, matrix, row) / 2 + column] = element(warp, matrix, row, column);
      }
    }
  }
  expect_clean(
      {.threads = 64, .shared_bytes = 1024},
      [&] {
        const u32 warp = tid_x() / 32, lane = tid_x() % 32;
        st_shared_v4_u32(dynamic_shared() + 16 * tid_x(), {});
        bar_sync(0, 64);
        U32x4 v;
        v.x = fragment(warp, 0, lane, transposed);
        v.y = fragment(warp, 1, lane, transposed);
        v.z = fragment(warp, 2, lane, transposed);
        v.w = fragment(warp, 3, lane, transposed);
        store(dynamic_shared() + place(warp, lane / 8, lane % 8), v);
        bar_sync(0, 64);
        const U32x4 mine = ld_shared_v4_u32(dynamic_shared() + 16 * tid_x());
        std::memcpy(&seen[8 * tid_x()], &mine, 16);
      },
      [&] { CHECK(seen == expected); });
}

}  // namespace

TEST_CASE("x1") {
  check(1, false, [](u32 at, const U32x4& v) { stmatrix_m8n8_x1_b16(at, v.x); });
  check(1, true, [](u32 at, const U32x4& v) { stmatrix_m8n8_x1_b16<true>(at, v.x); });
}

TEST_CASE("x2") {
  check(2, false, [](u32 at, const U32x4& v) { stmatrix_m8n8_x2_b16(at, v.x, v.y); });
  check(2, true, [](u32 at, const U32x4& v) { stmatrix_m8n8_x2_b16<true>(at, v.x, v.y); });
}

TEST_CASE("x4") {
  check(4, false, [](u32 at, const U32x4& v) { stmatrix_m8n8_x4_b16(at, v); });
  check(4, true, [](u32 at, const U32x4& v) { stmatrix_m8n8_x4_b16<true>(at, v); });
}

TEST_CASE("lanes that disagree about the form") {
  expect_fault({}, FaultKind::disagreement, "stmatrix", [] {
    const u32 at = dynamic_shared() + 16 * tid_x();
    tid_x() == 31 ? stmatrix_m8n8_x1_b16<true>(at, 0) : stmatrix_m8n8_x1_b16<false>(at, 0);
  });
}

TEST_CASE("what stmatrix stored goes to TMA only past a fence.proxy.async") {
  alignas(64) static u8 out[8 * 16];
  const TensorMap map = machine::encode_tensor_map(
      {reinterpret_cast<u64>(out), TensorElement::bf16, 2, {8, 8, 1}, {16, 0}, {8, 8, 1}, SwizzleMode::none});
  const auto kernel = [&](bool fence) {
    stmatrix_m8n8_x1_b16(dynamic_shared() + 16 * (tid_x() % 8), fragment(0, 0, tid_x(), false));
    if (fence) fence_proxy_async_shared_cta();
    bar_warp_sync(0xffffffffu);
    if (elect_sync(0xffffffffu)) {
      cp_async_bulk_tensor_2d_global_shared(map, 0, 0, dynamic_shared());
      cp_async_bulk_commit_group();
      cp_async_bulk_wait_group<0>();
    }
  };
  expect_clean(
      {}, [&] { kernel(true); },
      [&] {
        for (u32 i = 0; i < 64; ++i) CHECK((out[2 * i] | out[2 * i + 1] << 8) == element(0, 0, i / 8, i % 8));
      });
  expect_fault({}, FaultKind::missing_proxy_fence, "written by stmatrix at", [&] { kernel(false); });
}
