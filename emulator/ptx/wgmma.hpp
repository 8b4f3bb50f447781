// wgmma: the asynchronous warpgroup matrix product, D = A B^T + D on E4M3 codes. PTX ISA, "wgmma.mma_async". What the unit does:
// emulator/machine/wgmma_unit.hpp.
//
// The registers are checked arrays: reading one that a wgmma owns, or that nobody wrote, is a Fault that names the line which
// reads. How operator[] knows that line: emulator/machine/registers.hpp.
//
// N is a multiple of 8 from 8 to 256; run_time here, so that one build of a kernel serves every width: Accumulator<run_time> d(n).
#pragma once

#include "emulator/machine/operations.hpp"
#include "emulator/machine/registers.hpp"

namespace fp8twin {

/// This thread's share of D.
template <u32 N>
class Accumulator : public machine::RegisterArray {
 public:
  Accumulator(u32 n = N) : machine::RegisterArray(n, N) {}
};

/// FP32 registers that no wgmma touches: N / 2 of them, as the accumulator's.
template <u32 N>
class Registers : public machine::RegisterArray {
 public:
  Registers(u32 n = N) : machine::RegisterArray(n, N) {}
};

/// Several of each.
template <u32 N, u32 Count>
class Accumulators : public machine::Several<Accumulator<N>> {
 public:
  Accumulators(u32 n = N, u32 count = Count) : machine::Several<Accumulator<N>>(n, count) {}
};

template <u32 N, u32 Count>
class RegisterSets : public machine::Several<Registers<N>> {
 public:
  RegisterSets(u32 n = N, u32 count = Count) : machine::Several<Registers<N>>(n, count) {}
};

/// This thread's share of A in registers: four codes in each.
struct AFragment {
  u32 reg[4];
};

template <u32 N>
inline void wgmma_fence(Accumulator<N>& d) {
  d.state.touched = false;
}

inline void wgmma_commit_group(machine::Site site = machine::Site::here()) {
  machine::Thread& thread = machine::self();
  machine::wgmma_unit(thread, site).commit_group(thread, site);
}

/// Waits, and gives no registers back.
template <u32 Pending>
inline void wgmma_wait_group(machine::Site site = machine::Site::here()) {
  machine::Thread& thread = machine::self();
  machine::wgmma_unit(thread, site).wait_group(thread, Pending, site);
}

template <u32 Pending, u32 N>
inline void wgmma_wait_group(Accumulator<N>& d, machine::Site site = machine::Site::here()) {
  machine::Thread& thread = machine::self();
  machine::wgmma_unit(thread, site).wait_group(thread, Pending, d.state, site);
}

template <i32 ScaleA = 1, i32 ScaleB = 1, u32 N>
inline void wgmma_mma_async_m64k32_f32_e4m3_e4m3(Accumulator<N>& d, u64 a_descriptor, u64 b_descriptor,
                                                 u32 scale_d, machine::Site site = machine::Site::here()) {
  machine::Thread& thread = machine::self();
  machine::wgmma_unit(thread, site)
      .mma_async(thread, d.state, {a_descriptor, b_descriptor, false, scale_d != 0, ScaleA < 0, ScaleB < 0},
                 nullptr, site);
}

template <i32 ScaleA = 1, i32 ScaleB = 1, u32 N>
inline void wgmma_mma_async_m64k32_f32_e4m3_e4m3(Accumulator<N>& d, const AFragment& a, u64 b_descriptor,
                                                 u32 scale_d, machine::Site site = machine::Site::here()) {
  machine::Thread& thread = machine::self();
  machine::wgmma_unit(thread, site)
      .mma_async(thread, d.state, {0, b_descriptor, true, scale_d != 0, ScaleA < 0, ScaleB < 0}, a.reg, site);
}

}  // namespace fp8twin
