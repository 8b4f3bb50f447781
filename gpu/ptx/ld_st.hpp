// Ordinary loads and stores. PTX ISA, "ld", "ld.global.nc", "st".
//
//   ld_global_nc_*  from an array that nobody writes while the kernel runs (.nc: loads may move and merge)
//   st_global_*     to an array that the kernel does not read
//   *_shared_*      by 32-bit shared address; 16-byte accesses need an address that is a multiple of 16
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

/// Sixteen bytes in registers; x holds the lowest addresses.
struct U32x4 {
  u32 x = 0, y = 0, z = 0, w = 0;
};

FP8TWIN_DEVICE u8 ld_global_nc_u8(const u8* address) {
  u16 value;  // PTX has no 8-bit registers
  asm("ld.global.nc.u8 %0, [%1];" : "=h"(value) : "l"(address));
  return static_cast<u8>(value);
}

FP8TWIN_DEVICE float ld_global_nc_f32(const float* address) {
  float value;
  asm("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(address));
  return value;
}

FP8TWIN_DEVICE U32x4 ld_global_nc_v4_u32(const void* address) {
  U32x4 value;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(address));
  return value;
}

FP8TWIN_DEVICE void st_global_u16(u16* address, u16 value) {
  asm volatile("st.global.u16 [%0], %1;" ::"l"(address), "h"(value) : "memory");
}

FP8TWIN_DEVICE void st_global_f32(float* address, float value) {
  asm volatile("st.global.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory");
}

FP8TWIN_DEVICE u32 ld_shared_u32(u32 address) {
  u32 value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

FP8TWIN_DEVICE void st_shared_v4_u32(u32 address, U32x4 value) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w)
               : "memory");
}

}  // namespace fp8twin
