// stmatrix: 8x8 matrices of 16-bit elements from a warp's registers to rows of 16 bytes. PTX ISA, "stmatrix".
//
//   lane l holds elements (l/4, 2(l%4)) and (l/4, 2(l%4)+1) of each matrix; transposed: (2(l%4), l/4) and (2(l%4)+1, l/4)
//   lanes 8i .. 8i+7 give the addresses of the rows of matrix i
#pragma once

#include "emulator/ptx/ld_st.hpp"

namespace fp8twin {

template <bool Trans = false>
inline void stmatrix_m8n8_x1_b16(u32 address, u32 v, machine::Site site = machine::Site::here()) {
  machine::store_matrices(machine::self(), 1, Trans, address, &v, site);
}

template <bool Trans = false>
inline void stmatrix_m8n8_x2_b16(u32 address, u32 v0, u32 v1, machine::Site site = machine::Site::here()) {
  const u32 v[2] = {v0, v1};
  machine::store_matrices(machine::self(), 2, Trans, address, v, site);
}

template <bool Trans = false>
inline void stmatrix_m8n8_x4_b16(u32 address, U32x4 v, machine::Site site = machine::Site::here()) {
  const u32 all[4] = {v.x, v.y, v.z, v.w};
  machine::store_matrices(machine::self(), 4, Trans, address, all, site);
}

}  // namespace fp8twin
