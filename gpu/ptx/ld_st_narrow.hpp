// Loads and stores of less than a word, and of two words. PTX ISA, "ld.global.nc", "st".
//
//   ld_global_nc_u16      one BF16 or F16       ld_global_nc_v2_u32    four of them, from a multiple of 8
//   ld_global_nc_u8, st_global_u8      one code
//
// What ld_st.hpp says of .nc holds here.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

/// Eight bytes in registers; x holds the lowest addresses.
struct U32x2 {
  u32 x = 0, y = 0;
};

FP8TWIN_DEVICE u8 ld_global_nc_u8(const u8* address) {
  u16 value;  // PTX has no 8-bit registers
  asm("ld.global.nc.u8 %0, [%1];" : "=h"(value) : "l"(address));
  return static_cast<u8>(value);
}

FP8TWIN_DEVICE u16 ld_global_nc_u16(const u16* address) {
  u16 value;
  asm("ld.global.nc.u16 %0, [%1];" : "=h"(value) : "l"(address));
  return value;
}

FP8TWIN_DEVICE U32x2 ld_global_nc_v2_u32(const void* address) {
  U32x2 value;
  asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "l"(address));
  return value;
}

FP8TWIN_DEVICE void st_global_u8(u8* address, u8 value) {
  const u16 register_value = value;  // PTX has no 8-bit registers
  asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "h"(register_value) : "memory");
}

}  // namespace fp8twin
