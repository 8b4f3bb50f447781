// The instructions that the layout captures need and gpu/ptx does not wrap yet, under the names that it will
// give them. PTX ISA: "cp.async.bulk.tensor", "mbarrier", "stmatrix", "mapa".
#pragma once

#include "emulator/layout/tensor_map.hpp"
#include "gpu/ptx/ld_st.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin::capture {

FP8TWIN_DEVICE u32 cluster_ctarank() {
  u32 value;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
  return value;
}

FP8TWIN_DEVICE u32 mapa_shared_cluster_u32(u32 address, u32 rank) {
  u32 value;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(value) : "r"(address), "r"(rank));
  return value;
}

FP8TWIN_DEVICE void mbarrier_init_b64(u32 bar, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

FP8TWIN_DEVICE void mbarrier_arrive_expect_tx_b64(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

FP8TWIN_DEVICE bool mbarrier_try_wait_parity_b64(u32 bar, u32 parity) {
  u32 done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(bar), "r"(parity)
      : "memory");
  return done != 0;
}

FP8TWIN_DEVICE void fence_mbarrier_init_release_cluster() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_2d_shared_global(u32 dst, const TensorMap& map, i32 x, i32 y,
                                                          u32 bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(dst),
      "l"(&map), "r"(x), "r"(y), "r"(bar)
      : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_3d_shared_global(u32 dst, const TensorMap& map, i32 x, i32 y, i32 z,
                                                          u32 bar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
      "[%5];" ::"r"(dst),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(bar)
      : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_2d_global_shared(const TensorMap& map, i32 x, i32 y, u32 src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
               "r"(x), "r"(y), "r"(src)
               : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_tensor_3d_global_shared(const TensorMap& map, i32 x, i32 y, i32 z,
                                                          u32 src) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map),
               "r"(x), "r"(y), "r"(z), "r"(src)
               : "memory");
}

FP8TWIN_DEVICE void cp_async_bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

template <u32 Pending>
FP8TWIN_DEVICE void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

template <bool Trans = false>
FP8TWIN_DEVICE void stmatrix_m8n8_x1_b16(u32 address, u32 v) {
  if constexpr (Trans) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(address), "r"(v)
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(address), "r"(v) : "memory");
  }
}

template <bool Trans = false>
FP8TWIN_DEVICE void stmatrix_m8n8_x2_b16(u32 address, u32 v0, u32 v1) {
  if constexpr (Trans) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(v0),
                 "r"(v1)
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(v0), "r"(v1)
                 : "memory");
  }
}

template <bool Trans = false>
FP8TWIN_DEVICE void stmatrix_m8n8_x4_b16(u32 address, U32x4 v) {
  if constexpr (Trans) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
                 "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x),
                 "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
  }
}

}  // namespace fp8twin::capture
