// Where a block's dynamic shared memory begins, as a 32-bit address of the .shared state space.
//
// Shared memory is an address and never a pointer in a kernel: TMA, mbarrier and wgmma take addresses,
// swizzles act on their bits, and the emulated machine has no other way to see every access. The window need
// not start at 0 nor be aligned beyond 16 bytes: a kernel that needs more asks for more bytes and rounds the
// address up.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE u32 dynamic_shared() {
  alignas(16) extern __shared__ u8 fp8twin_dynamic_shared[];
  return static_cast<u32>(__cvta_generic_to_shared(fp8twin_dynamic_shared));
}

}  // namespace fp8twin
