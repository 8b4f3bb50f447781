// Where the shared memory of a block begins: alone, with static shared memory in front, in a cluster.
#pragma once

#include "gpu/capture/device/layout_records.hpp"
#include "gpu/ptx/shared_memory.hpp"
#include "gpu/ptx/special_registers.hpp"

namespace fp8twin::capture {

FP8TWIN_DEVICE WindowRecord shared_window() {
  WindowRecord r{};
  r.dynamic_begin = dynamic_shared();
  r.static_begin = 0xffffffffu;
  r.rank = cluster_ctarank();
  asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(r.reserved_begin));
  asm("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(r.reserved_end));
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(r.total_bytes));
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r.dynamic_bytes));
  return r;
}

/// Static bytes: 0 for none. Cluster: blocks in it.
template <u32 StaticBytes, u32 Cluster>
FP8TWIN_DEVICE void window(const WindowArguments& g) {
  if (tid_x() != 0) return;
  WindowRecord r = shared_window();
  if constexpr (StaticBytes != 0) {
    __shared__ volatile u8 fixed[StaticBytes];
    fixed[0] = 1;
    r.static_begin = static_cast<u32>(__cvta_generic_to_shared(const_cast<u8*>(fixed)));
  }
  r.mapa_rank_0 = mapa_shared_cluster_u32(r.dynamic_begin, 0);
  r.mapa_rank_1 = Cluster > 1 ? mapa_shared_cluster_u32(r.dynamic_begin, 1) : 0xffffffffu;
  g.records[ctaid_x()] = r;
}

}  // namespace fp8twin::capture
