// cp.async.bulk.tensor: TMA moves a box of a tensor between global and shared memory. PTX ISA, "cp.async.bulk.tensor".
//
//   global -> shared   box at (x, y) of `map` to dst, swizzled; elements outside the tensor arrive as zeros; its bytes
//                      count at the mbarrier `bar` (mbarrier::complete_tx)
//   ..._multicast      to the same dst, and the same bar, of every block of the cluster whose bit cta_mask has
//   shared -> global   elements outside are not written; ended by bulk groups:
//     commit_group()         closes the group of this thread's stores so far
//     wait_group_read<P>()   until at most P groups still read shared memory;  wait_group<P>: still write
//
// One thread issues a copy. Coordinates are in elements, the contiguous dimension first.
#pragma once

#include "emulator/layout/integers.hpp"
#include "emulator/layout/tensor_map.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE void cp_async_bulk_tensor_2d_shared_global(u32 dst, const TensorMap& map, i32 x, i32 y,
                                                          u32 bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];" ::"r"(dst),
      "l"(&map), "r"(bar), "r"(x), "r"(y)
      : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_3d_shared_global(u32 dst, const TensorMap& map, i32 x, i32 y, i32 z,
                                                          u32 bar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(dst),
      "l"(&map), "r"(bar), "r"(x), "r"(y), "r"(z)
      : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_2d_shared_global_multicast(u32 dst, const TensorMap& map, i32 x,
                                                                    i32 y, u32 bar, u16 cta_mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%4, %5}], [%2], %3;" ::"r"(dst),
      "l"(&map), "r"(bar), "h"(cta_mask), "r"(x), "r"(y)
      : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_3d_shared_global_multicast(u32 dst, const TensorMap& map, i32 x,
                                                                    i32 y, i32 z, u32 bar, u16 cta_mask) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%4, %5, %6}], [%2], %3;" ::"r"(dst),
      "l"(&map), "r"(bar), "h"(cta_mask), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// What the L2 cache should think of lines that a copy brings, as .L2::cache_hint takes it: the value that
/// createpolicy.fractional.L2::evict_first.b64 makes for all lines (measured: H200). A constant, since a policy in a vector
/// register costs a loop around every copy.
inline constexpr u64 l2_evict_first = 0x12f0000000000000;

FP8TWIN_DEVICE void cp_async_bulk_tensor_2d_shared_global(u32 dst, const TensorMap& map, i32 x, i32 y,
                                                          u32 bar, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(dst),
      "l"(&map), "r"(bar), "r"(x), "r"(y), "l"(policy)
      : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_2d_shared_global_multicast(u32 dst, const TensorMap& map, i32 x,
                                                                    i32 y, u32 bar, u16 cta_mask,
                                                                    u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      ".L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3, %6;" ::"r"(dst),
      "l"(&map), "r"(bar), "h"(cta_mask), "r"(x), "r"(y), "l"(policy)
      : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_2d_global_shared(const TensorMap& map, i32 x, i32 y, u32 src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
               "r"(src), "r"(x), "r"(y)
               : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_3d_global_shared(const TensorMap& map, i32 x, i32 y, i32 z,
                                                          u32 src) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
      "r"(src), "r"(x), "r"(y), "r"(z)
      : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

template <u32 Pending>
FP8TWIN_DEVICE void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

template <u32 Pending>
FP8TWIN_DEVICE void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

/// Brings the map's 128 bytes near, before the first copy needs them.
FP8TWIN_DEVICE void prefetch_tensormap(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

}  // namespace fp8twin
