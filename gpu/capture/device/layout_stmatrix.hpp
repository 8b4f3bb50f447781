// Where stmatrix puts each half of each register.
//
//   half h of register i of lane l holds 8 l + 2 i + h + 1;  lane l passes the address base + 16 l
#pragma once

#include "gpu/capture/device/layout_records.hpp"
#include "gpu/ptx/ld_st.hpp"
#include "gpu/ptx/shared_memory.hpp"
#include "gpu/ptx/special_registers.hpp"
#include "gpu/ptx/stmatrix.hpp"

namespace fp8twin::capture {

/// The 32 x 16 bytes that the lanes' addresses name, as they are after `store`.
template <class Store>
FP8TWIN_DEVICE void stmatrix_case(u16* stored, const Store& store) {
  const u32 mine = dynamic_shared() + 16 * tid_x();
  st_shared_v4_u32(mine, {0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu});
  __syncwarp();
  store(mine);
  __syncwarp();
  for (u32 i = 0; i < 4; ++i) {
    const u32 word = ld_shared_u32(mine + 4 * i);
    stored[8 * tid_x() + 2 * i] = static_cast<u16>(word);
    stored[8 * tid_x() + 2 * i + 1] = static_cast<u16>(word >> 16);
  }
  __syncwarp();
}

template <bool Trans>
FP8TWIN_DEVICE void stmatrix_cases(u16* stored) {
  const auto reg = [](u32 i) { return (8 * tid_x() + 2 * i + 1) | (8 * tid_x() + 2 * i + 2) << 16; };
  stmatrix_case(stored, [&](u32 at) { stmatrix_m8n8_x1_b16<Trans>(at, reg(0)); });
  stmatrix_case(stored + 256, [&](u32 at) { stmatrix_m8n8_x2_b16<Trans>(at, reg(0), reg(1)); });
  stmatrix_case(stored + 512, [&](u32 at) {
    stmatrix_m8n8_x4_b16<Trans>(at, {reg(0), reg(1), reg(2), reg(3)});
  });
}

/// One warp.
FP8TWIN_DEVICE void stmatrix_places(const StmatrixArguments& g) {
  stmatrix_cases<false>(g.stored);
  stmatrix_cases<true>(g.stored + 3 * 256);
}

}  // namespace fp8twin::capture
