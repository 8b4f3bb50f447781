// wgmma: the asynchronous warpgroup matrix product, D = A B^T + D on E4M3 codes. PTX ISA, "wgmma.mma_async".
//
//   A [64 x 32] in shared memory (descriptor) or registers     B [N x 32] in shared memory (descriptor)
//   D [64 x N] in the accumulators: N/2 FP32 registers of each of 128 threads (emulator/layout/fragment.hpp)
//
//   wgmma_fence(d)          registers written by ordinary instructions are ready for the tensor core
//   wgmma_mma_async...      posted; d belongs to the tensor core from here on
//   wgmma_commit_group()    closes the group of what was posted
//   wgmma_wait_group<P>(d)  until at most P groups are pending: then d may be read again
//   wgmma_wait_group<P>()   the same, to know that they are over: d stays the tensor core's
//
// N is 8, 16, ... 256. The 32 shapes differ only in how many registers the assembly names, so
// gpu/jit/wgmma_shapes.cpp writes WgmmaShape<N> for the N that a kernel asks for, and this file includes it.
// scale_d = 0 computes A B^T + 0 whatever d held; ScaleA and ScaleB are 1 or -1 (the operand negated).
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

/// This thread's share of D. On the card a bare register array: index it with constants only. The constructor's
/// argument is for machines that take the width at run time; here it is N.
template <u32 N>
struct Accumulator {
  float reg[N / 2];
  Accumulator() = default;
  FP8TWIN_DEVICE explicit Accumulator(u32) {}
  FP8TWIN_DEVICE float& operator[](u32 i) { return reg[i]; }
};

/// As many floats that the tensor core never touches: the promoted sums of the same elements.
template <u32 N>
struct Registers {
  float reg[N / 2];
  Registers() = default;
  FP8TWIN_DEVICE explicit Registers(u32) {}
  FP8TWIN_DEVICE float& operator[](u32 i) { return reg[i]; }
};

/// Several of each, for a kernel that has more than one product under way, or more than one tile. The constructors'
/// arguments are for machines that take width and count at run time.
template <u32 N, u32 Count>
struct Accumulators {
  Accumulator<N> at[Count];
  FP8TWIN_DEVICE Accumulators(u32, u32) {}
  FP8TWIN_DEVICE Accumulator<N>& operator[](u32 i) { return at[i]; }
};

template <u32 N, u32 Count>
struct RegisterSets {
  Registers<N> at[Count];
  FP8TWIN_DEVICE RegisterSets(u32, u32) {}
  FP8TWIN_DEVICE Registers<N>& operator[](u32 i) { return at[i]; }
};

/// This thread's share of A in registers: four codes in each.
struct AFragment {
  u32 reg[4];
};

template <u32 N>
struct WgmmaShape;  // the specialisations come from here:

}  // namespace fp8twin

#include "generated/wgmma_shapes.hpp"

namespace fp8twin {

/// Keeps the compiler from moving reads or writes of d across this point.
template <u32 N>
FP8TWIN_DEVICE void accumulator_fence(Accumulator<N>& d) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < N / 2; ++i) asm volatile("" : "+f"(d.reg[i])::"memory");
}

template <u32 N>
FP8TWIN_DEVICE void wgmma_fence(Accumulator<N>& d) {
  accumulator_fence(d);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

FP8TWIN_DEVICE void wgmma_commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// The wait alone: no register may be read on the strength of it.
template <u32 Pending>
FP8TWIN_DEVICE void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

template <u32 Pending, u32 N>
FP8TWIN_DEVICE void wgmma_wait_group(Accumulator<N>& d) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
  accumulator_fence(d);
}

template <i32 ScaleA = 1, i32 ScaleB = 1, u32 N>
FP8TWIN_DEVICE void wgmma_mma_async_m64k32_f32_e4m3_e4m3(Accumulator<N>& d, u64 a_descriptor,
                                                         u64 b_descriptor, u32 scale_d) {
  WgmmaShape<N>::template mma_async<ScaleA, ScaleB>(d.reg, a_descriptor, b_descriptor, scale_d);
}

template <i32 ScaleA = 1, i32 ScaleB = 1, u32 N>
FP8TWIN_DEVICE void wgmma_mma_async_m64k32_f32_e4m3_e4m3(Accumulator<N>& d, const AFragment& a,
                                                         u64 b_descriptor, u32 scale_d) {
  WgmmaShape<N>::template mma_async<ScaleA, ScaleB>(d.reg, a.reg, b_descriptor, scale_d);
}

}  // namespace fp8twin
