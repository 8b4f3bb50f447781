// stmatrix: a warp stores one, two or four 8 x 8 matrices of 16-bit elements from its fragments. PTX ISA, "stmatrix".
//
//   register i of a matrix's fragment    lane l holds row l/4, columns 2*(l%4) (low half) and 2*(l%4)+1
//   address of lane l                    row l%8 of matrix l/8: 16 bytes; x1 reads lanes 0..7, x2 0..15, x4 all
//
// The fragment is that of wgmma's accumulators after conversion to 16 bits, and the rows may lie anywhere: so a store
// to a swizzled tile needs no shuffle and meets every bank once. Trans stores the matrix transposed.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/ld_st.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

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

}  // namespace fp8twin
