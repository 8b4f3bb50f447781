// TMA: PTX ISA, "cp.async.bulk.tensor", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group", "prefetch.tensormap".
// What the machine does: emulator/machine/tensor_copy.cpp.
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

namespace machine {
/// The mask of a copy that is no multicast.
inline u32 own_mask() { return 1u << self().block->rank; }
}  // namespace machine

inline void cp_async_bulk_tensor_2d_shared_global(u32 dst, const TensorMap& map, i32 x, i32 y, u32 bar,
                                                  machine::Site site = machine::Site::here()) {
  machine::load_tensor(machine::self(), dst, map, {x, y, 0}, 2, bar, machine::own_mask(), site);
}

inline void cp_async_bulk_tensor_3d_shared_global(u32 dst, const TensorMap& map, i32 x, i32 y, i32 z, u32 bar,
                                                  machine::Site site = machine::Site::here()) {
  machine::load_tensor(machine::self(), dst, map, {x, y, z}, 3, bar, machine::own_mask(), site);
}

inline void cp_async_bulk_tensor_2d_shared_global_multicast(u32 dst, const TensorMap& map, i32 x, i32 y,
                                                            u32 bar, u16 cta_mask,
                                                            machine::Site site = machine::Site::here()) {
  machine::load_tensor(machine::self(), dst, map, {x, y, 0}, 2, bar, cta_mask, site);
}

inline void cp_async_bulk_tensor_3d_shared_global_multicast(u32 dst, const TensorMap& map, i32 x, i32 y,
                                                            i32 z, u32 bar, u16 cta_mask,
                                                            machine::Site site = machine::Site::here()) {
  machine::load_tensor(machine::self(), dst, map, {x, y, z}, 3, bar, cta_mask, site);
}

inline void cp_async_bulk_tensor_2d_global_shared(const TensorMap& map, i32 x, i32 y, u32 src,
                                                  machine::Site site = machine::Site::here()) {
  machine::store_tensor(machine::self(), map, {x, y, 0}, 2, src, site);
}

inline void cp_async_bulk_tensor_3d_global_shared(const TensorMap& map, i32 x, i32 y, i32 z, u32 src,
                                                  machine::Site site = machine::Site::here()) {
  machine::store_tensor(machine::self(), map, {x, y, z}, 3, src, site);
}

// Cache policies are hints, and caches are not modelled.
inline constexpr u64 l2_evict_first = 0x12f0000000000000;

inline void cp_async_bulk_tensor_2d_shared_global(u32 dst, const TensorMap& map, i32 x, i32 y, u32 bar, u64,
                                                  machine::Site site = machine::Site::here()) {
  cp_async_bulk_tensor_2d_shared_global(dst, map, x, y, bar, site);
}

inline void cp_async_bulk_tensor_2d_shared_global_multicast(u32 dst, const TensorMap& map, i32 x, i32 y,
                                                            u32 bar, u16 cta_mask, u64,
                                                            machine::Site site = machine::Site::here()) {
  cp_async_bulk_tensor_2d_shared_global_multicast(dst, map, x, y, bar, cta_mask, site);
}

inline void cp_async_bulk_commit_group() { machine::bulk_commit_group(machine::self()); }

template <u32 Pending>
inline void cp_async_bulk_wait_group(machine::Site site = machine::Site::here()) {
  machine::bulk_wait_group(machine::self(), Pending, "cp.async.bulk.wait_group", site);
}

/// Until the stores have read their bytes of shared memory; the machine reads and writes at once.
template <u32 Pending>
inline void cp_async_bulk_wait_group_read(machine::Site site = machine::Site::here()) {
  machine::bulk_wait_group(machine::self(), Pending, "cp.async.bulk.wait_group.read", site);
}

inline void prefetch_tensormap(const TensorMap& map, machine::Site site = machine::Site::here()) {
  machine::prefetch_tensor_map(machine::self(), map, site);
}

}  // namespace fp8twin
