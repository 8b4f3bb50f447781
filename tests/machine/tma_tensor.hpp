// A tensor in global memory for the tests of TMA: 192 of every 256 bytes, 13 rows, 5 planes; and a kernel that loads a box of it.
#pragma once

#include "tests/machine/small_kernel.hpp"

namespace fp8twin::test {

inline constexpr u32 pitch = 256, plane = 16 * pitch, tensor_bytes = 6 * plane, shared_bytes = 40 * 1024;

struct Tensor {
  alignas(64) u8 bytes[tensor_bytes];
  Tensor() {
    u32 state = 7;
    for (u8& b : bytes) {
      state = state * 1664525 + 1013904223;
      b = static_cast<u8>(state >> 24);
    }
  }
};

inline TensorMapDescription describe(const Tensor& tensor, SwizzleMode mode, TensorElement element,
                                     u32 row_bytes, u32 rows, u32 planes) {
  const u32 size = element_bytes(element);
  TensorMapDescription map;
  map.base = reinterpret_cast<u64>(tensor.bytes);
  map.element = element;
  map.rank = planes ? 3 : 2;
  map.size[0] = 192 / size;
  map.size[1] = 13;
  map.size[2] = planes ? 5 : 1;
  map.stride[0] = pitch;
  map.stride[1] = planes ? plane : 0;
  map.box[0] = row_bytes / size;
  map.box[1] = rows;
  map.box[2] = planes ? planes : 1;
  map.swizzle = mode;
  return map;
}

inline const Tensor& shared_tensor() {
  static const Tensor tensor;
  return tensor;
}

/// 4 rows of 64 bytes.
inline TensorMapDescription plain_box() {
  return describe(shared_tensor(), SwizzleMode::none, TensorElement::uint8, 64, 4, 0);
}

/// One thread loads `map` to `offset` at (x, y) and waits for `bytes`.
inline auto loader(const TensorMapDescription& description, u32 offset, i32 x, i32 y, u32 bytes) {
  const TensorMap map = machine::encode_tensor_map(description);
  return [=] {
    const u32 bar = dynamic_shared() + 2048;
    mbarrier_init_b64(bar, 1);
    fence_mbarrier_init_release_cluster();
    mbarrier_arrive_expect_tx_b64(bar, bytes);
    cp_async_bulk_tensor_2d_shared_global(dynamic_shared() + offset, map, x, y, bar);
    wait_for(bar, 0);
  };
}

inline const Setup one{.threads = 1};

}  // namespace fp8twin::test
