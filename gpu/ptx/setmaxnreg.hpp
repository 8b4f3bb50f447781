// setmaxnreg: warpgroups of one block hand registers to each other. PTX ISA, "setmaxnreg".
//
//   launch:   every thread has the same share           168 168 168      (384 threads, 65536 registers)
//   dec<R>    gives back to the block what is above R    40 168 168      the producer needs few
//   inc<R>    waits until the block has enough, takes    40 232 232      the consumers hold accumulators
//
// R is a multiple of 8 from 24 to 256, and all warps of the warpgroup say the same. The sum must fit what the block
// was launched with, or inc waits for ever.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

template <u32 Registers>
FP8TWIN_DEVICE void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers) : "memory");
}

template <u32 Registers>
FP8TWIN_DEVICE void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers) : "memory");
}

}  // namespace fp8twin
