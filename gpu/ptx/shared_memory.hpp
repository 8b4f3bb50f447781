// Where a block's dynamic shared memory begins, as a 32-bit address of the .shared state space; and where another block
// of the cluster has the same address (mapa). PTX ISA, "State Spaces", "mapa".
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

/// `address`, of this block's shared memory, as it is in block `rank` of the cluster: a shared::cluster address.
FP8TWIN_DEVICE u32 mapa_shared_cluster_u32(u32 address, u32 rank) {
  u32 remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

}  // namespace fp8twin
