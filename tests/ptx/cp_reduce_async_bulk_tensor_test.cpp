// The TMA store that adds: against a plain loop, over the tensor's edges, swizzled; and everything a store is told off for.
#include "emulator/ptx/cp_reduce_async_bulk_tensor.hpp"

#include <algorithm>
#include <vector>

#include "emulator/layout/swizzle.hpp"
#include "emulator/number/reduce_add.hpp"
#include "tests/machine/tma_tensor.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

constexpr u32 columns = 48, rows = 13,
              floats_of_row = 64;  // 192 of every 256 bytes, as tma_tensor.hpp has it

/// What lies in memory before, and what is added to it: small integers, so that sums are exact.
float before(u32 row, u32 column) { return static_cast<float>(100 * row + column); }
float added(u32 i) { return static_cast<float>(i) + 0.25f; }

struct Matrix {
  alignas(64) float element[16 * floats_of_row];
  Matrix() { fill(); }
  void fill() {
    for (u32 i = 0; i < 16 * floats_of_row; ++i) element[i] = before(i / floats_of_row, i % floats_of_row);
  }
  TensorMapDescription box(SwizzleMode mode, u32 width, u32 height) const {
    TensorMapDescription map = describe(shared_tensor(), mode, TensorElement::f32, 4 * width, height, 0);
    map.base = reinterpret_cast<u64>(element);
    return map;
  }
};

/// Element i of the box, row by row, is added(i).
void fill_box(const TensorMapDescription& box, u32 tile) {
  for (u32 i = 0; i < box.box[0] * box.box[1]; ++i)
    st_shared_f32(box_element_address(box, tile, i % box.box[0], i / box.box[0]), added(i));
  fence_proxy_async_shared_cta();
}

void add_and_wait(const TensorMap& map, i32 x, i32 y, u32 tile) {
  cp_reduce_async_bulk_tensor_2d_add_global_shared(map, x, y, tile);
  cp_async_bulk_commit_group();
  cp_async_bulk_wait_group<0>();
}

}  // namespace

TEST_CASE("a box is added where a store would put it, and nothing outside the tensor changes") {
  struct Place {
    SwizzleMode mode;
    i32 x, y;
  };
  for (const Place at :
       {Place{SwizzleMode::none, 0, 0}, Place{SwizzleMode::none, 4, 3}, Place{SwizzleMode::b128, 8, 2},
        Place{SwizzleMode::b64, 0, 5}, Place{SwizzleMode::b128, 36, 10}, Place{SwizzleMode::none, 40, 12},
        Place{SwizzleMode::none, 48, 0}, Place{SwizzleMode::b128, 0, 13}}) {
    INFO("swizzle " << swizzle_width(at.mode) << " at " << at.x << ", " << at.y);
    Matrix matrix;
    const u32 width = 16, height = 7;
    const TensorMapDescription box = matrix.box(at.mode, width, height);
    const TensorMap map = machine::encode_tensor_map(box);
    expect_clean(
        one,
        [&] {
          fill_box(box, dynamic_shared());
          add_and_wait(map, at.x, at.y, dynamic_shared());
        },
        [&] {
          for (u32 row = 0; row < 16; ++row) {
            for (u32 column = 0; column < floats_of_row; ++column) {
              const u32 i = row - static_cast<u32>(at.y), j = column - static_cast<u32>(at.x);
              const bool hit = i < height && j < width && row < rows && column < columns;
              const float sum = before(row, column) + (hit ? added(i * width + j) : 0);
              if (matrix.element[row * floats_of_row + column] != sum)
                FAIL("row " << row << " column " << column);
            }
          }
          matrix.fill();
        });
  }
}

TEST_CASE("a sum is reduce_add's, bit for bit") {
  const std::vector<u32> words = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000,
                                  0x33800000, 0xb3800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0xffc12345, 0x7f800001, 0xbf800000, 0x4b800001};
  Matrix matrix;
  const TensorMapDescription box = matrix.box(SwizzleMode::none, 16, 1);
  const TensorMap map = machine::encode_tensor_map(box);
  for (u32 turn = 0; turn < 16; ++turn) {
    for (u32 i = 0; i < 16; ++i) matrix.element[i] = f32_from_bits(words[i]);
    run(one, [&] {
      for (u32 i = 0; i < 16; ++i) st_shared_u32(dynamic_shared() + 4 * i, words[(i + turn) % 16]);
      fence_proxy_async_shared_cta();
      add_and_wait(map, 0, 0, dynamic_shared());
    });
    for (u32 i = 0; i < 16; ++i)
      CHECK(f32_bits(matrix.element[i]) ==
            f32_bits(reduce_add(f32_from_bits(words[i]), f32_from_bits(words[(i + turn) % 16]))));
  }
}

TEST_CASE("only FP32 maps, only of rank 2, and only where a store may begin") {
  Matrix matrix;
  const auto adder = [&](TensorMapDescription description, i32 x, i32 y, u32 offset) {
    const TensorMap map = machine::encode_tensor_map(description);
    return [=] {
      for (u32 at = 0; at < 1024; at += 16) st_shared_v4_u32(dynamic_shared() + at, {});
      fence_proxy_async_shared_cta();
      add_and_wait(map, x, y, dynamic_shared() + offset);
    };
  };
  const TensorMapDescription box = matrix.box(SwizzleMode::none, 16, 4);
  const auto of = [&](TensorElement element) {
    TensorMapDescription other = box;
    other.element = element;
    return other;
  };
  expect_fault(one, FaultKind::descriptor,
               "cp.reduce.async.bulk.tensor: a tensor map of BF16; only the sum of FP32 elements is modelled",
               adder(of(TensorElement::bf16), 0, 0, 0));
  expect_fault(one, FaultKind::descriptor, "of 32-bit integers", adder(of(TensorElement::uint32), 0, 0, 0));
  TensorMapDescription deep = box;
  deep.rank = 3;
  deep.stride[1] = 4096;
  expect_fault(one, FaultKind::descriptor, "2d with a tensor map of rank 3", adder(deep, 0, 0, 0));
  expect_fault(one, FaultKind::misaligned, "x = 2, 8 bytes into its row", adder(box, 2, 0, 0));
  expect_fault(one, FaultKind::misaligned, "is no multiple of 128", adder(box, 0, 0, 64));
  expect_fault(one, FaultKind::out_of_bounds, "begins at x = -4, before the tensor", adder(box, -4, 0, 0));
  expect_fault(one, FaultKind::out_of_bounds, "begins at y = -1, before the tensor", adder(box, 0, -1, 0));
  expect_fault(one, FaultKind::out_of_bounds, "lies outside", adder(box, 0, 0, 4096 - 128));
}

TEST_CASE(
    "it reads what is there: nothing uninitialised, nothing without a fence, nothing overwritten early") {
  Matrix matrix;
  const TensorMap map = machine::encode_tensor_map(matrix.box(SwizzleMode::none, 16, 4));
  const auto kernel = [&](u32 stored, bool fence, bool wait) {
    for (u32 at = 0; at < stored; at += 16) st_shared_v4_u32(dynamic_shared() + at, {});
    if (fence) fence_proxy_async_shared_cta();
    cp_reduce_async_bulk_tensor_2d_add_global_shared(map, 0, 0, dynamic_shared());
    cp_async_bulk_commit_group();
    if (wait) cp_async_bulk_wait_group_read<0>();
    st_shared_v4_u32(dynamic_shared(), {});
    cp_async_bulk_wait_group<0>();
  };
  expect_clean(one, [&] { kernel(256, true, true); });
  expect_fault(one, FaultKind::uninitialised, "cp.reduce.async.bulk.tensor (add) reads shared 0x4f0",
               [&] { kernel(240, true, true); });
  expect_fault(one, FaultKind::missing_proxy_fence, "a fence.proxy.async is needed",
               [&] { kernel(256, false, true); });
  expect_fault(one, FaultKind::race, "the read by cp.reduce.async.bulk.tensor (add)",
               [&] { kernel(256, true, false); });
}

TEST_CASE("what the launch was given: values to add to, inside the range, one thread for each element") {
  using Access = machine::GlobalMemory::Access;
  Matrix matrix;
  const TensorMap map = machine::encode_tensor_map(matrix.box(SwizzleMode::none, 16, 4));
  const auto kernel = [&](u32 apart) {
    for (u32 at = 0; at < 256; at += 16) st_shared_v4_u32(dynamic_shared() + at, {});
    fence_proxy_async_shared_cta();
    add_and_wait(map, 0, static_cast<i32>(apart * ctaid_x()), dynamic_shared());
  };
  const auto with = [&](Access access, u64 bytes, auto check) {
    machine::GlobalMemory memory;
    memory.add("c", matrix.element, bytes, access);
    check(Setup{.threads = 1, .memory = &memory});
  };
  with(Access::read_write, sizeof matrix.element,
       [&](const Setup& setup) { expect_clean(setup, [&] { kernel(0); }); });
  with(Access::write, sizeof matrix.element, [&](const Setup& setup) {
    expect_fault(setup, FaultKind::uninitialised,
                 "adds to offset 0 of 'c', which the launch was given to write only", [&] { kernel(0); });
  });
  with(Access::read, sizeof matrix.element, [&](const Setup& setup) {
    expect_fault(setup, FaultKind::out_of_bounds, "writes offset 0 of 'c', which is an input",
                 [&] { kernel(0); });
  });
  with(Access::read_write, 512, [&](const Setup& setup) {
    expect_fault(setup, FaultKind::out_of_bounds, "of 'c', which has 512 bytes", [&] { kernel(0); });
  });
  machine::GlobalMemory memory;
  memory.add("c", matrix.element, sizeof matrix.element, Access::read_write);
  const Setup pair{.threads = 1, .grid = {2, 1}, .memory = &memory};
  expect_clean(pair, [&] { kernel(4); });
  expect_fault(pair, FaultKind::race, "has written already", [&] { kernel(3); });
}
