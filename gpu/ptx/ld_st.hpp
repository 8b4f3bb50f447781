// Ordinary loads and stores. PTX ISA, "ld", "ld.global.nc", "st".
//
//   ld_global_nc_*  from an array that nobody writes while the kernel runs (.nc: loads may move and merge)
//   ld_global_*     from any array; st_global_* to any array
//   *_shared_*      by 32-bit shared address; accesses of 8 and 16 bytes need an address that is a multiple of them
//
// CacheHint says what L1 should think of the line (.L1::evict_first, .L1::evict_last, .L1::no_allocate). It changes
// no value.
#pragma once

#include "emulator/layout/integers.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

/// Sixteen bytes in registers; x holds the lowest addresses.
struct U32x4 {
  u32 x = 0, y = 0, z = 0, w = 0;
};

/// Eight bytes, as two floats.
struct F32x2 {
  float x = 0, y = 0;
};

enum class CacheHint { normal, evict_first, evict_last, no_allocate };

// The hint stands in the middle of the instruction's name, and an asm string is a literal: four of each.
#define FP8TWIN_HINTED(how, before, after, ...)                                                   \
  if constexpr (Hint == CacheHint::normal) how(before after __VA_ARGS__);                         \
  if constexpr (Hint == CacheHint::evict_first) how(before ".L1::evict_first" after __VA_ARGS__); \
  if constexpr (Hint == CacheHint::evict_last) how(before ".L1::evict_last" after __VA_ARGS__);   \
  if constexpr (Hint == CacheHint::no_allocate) how(before ".L1::no_allocate" after __VA_ARGS__)

template <CacheHint Hint = CacheHint::normal>
FP8TWIN_DEVICE u32 ld_global_nc_u32(const u32* address) {
  u32 value;
  FP8TWIN_HINTED(asm, "ld.global.nc", ".u32 %0, [%1];", : "=r"(value) : "l"(address));
  return value;
}

template <CacheHint Hint = CacheHint::normal>
FP8TWIN_DEVICE float ld_global_nc_f32(const float* address) {
  float value;
  FP8TWIN_HINTED(asm, "ld.global.nc", ".f32 %0, [%1];", : "=f"(value) : "l"(address));
  return value;
}

template <CacheHint Hint = CacheHint::normal>
FP8TWIN_DEVICE U32x4 ld_global_nc_v4_u32(const void* address) {
  U32x4 value;
  FP8TWIN_HINTED(asm, "ld.global.nc", ".v4.u32 {%0, %1, %2, %3}, [%4];",
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(address));
  return value;
}

template <CacheHint Hint = CacheHint::normal>
FP8TWIN_DEVICE u32 ld_global_u32(const u32* address) {
  u32 value;
  FP8TWIN_HINTED(asm volatile, "ld.global", ".u32 %0, [%1];", : "=r"(value) : "l"(address) : "memory");
  return value;
}

template <CacheHint Hint = CacheHint::normal>
FP8TWIN_DEVICE float ld_global_f32(const float* address) {
  float value;
  FP8TWIN_HINTED(asm volatile, "ld.global", ".f32 %0, [%1];", : "=f"(value) : "l"(address) : "memory");
  return value;
}

template <CacheHint Hint = CacheHint::normal>
FP8TWIN_DEVICE void st_global_u16(u16* address, u16 value) {
  FP8TWIN_HINTED(asm volatile, "st.global", ".u16 [%0], %1;", ::"l"(address), "h"(value) : "memory");
}

template <CacheHint Hint = CacheHint::normal>
FP8TWIN_DEVICE void st_global_u32(u32* address, u32 value) {
  FP8TWIN_HINTED(asm volatile, "st.global", ".u32 [%0], %1;", ::"l"(address), "r"(value) : "memory");
}

template <CacheHint Hint = CacheHint::normal>
FP8TWIN_DEVICE void st_global_f32(float* address, float value) {
  FP8TWIN_HINTED(asm volatile, "st.global", ".f32 [%0], %1;", ::"l"(address), "f"(value) : "memory");
}

template <CacheHint Hint = CacheHint::normal>
FP8TWIN_DEVICE void st_global_v4_u32(void* address, U32x4 value) {
  FP8TWIN_HINTED(asm volatile, "st.global", ".v4.u32 [%0], {%1, %2, %3, %4};", ::"l"(address), "r"(value.x),
                 "r"(value.y), "r"(value.z), "r"(value.w)
                 : "memory");
}

#undef FP8TWIN_HINTED

FP8TWIN_DEVICE u32 ld_shared_u32(u32 address) {
  u32 value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

FP8TWIN_DEVICE float ld_shared_f32(u32 address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}

FP8TWIN_DEVICE F32x2 ld_shared_v2_f32(u32 address) {
  F32x2 value;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "r"(address) : "memory");
  return value;
}

FP8TWIN_DEVICE U32x4 ld_shared_v4_u32(u32 address) {
  U32x4 value;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(address)
               : "memory");
  return value;
}

FP8TWIN_DEVICE void st_shared_u32(u32 address, u32 value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

FP8TWIN_DEVICE void st_shared_f32(u32 address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}

FP8TWIN_DEVICE void st_shared_v4_u32(u32 address, U32x4 value) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w)
               : "memory");
}

}  // namespace fp8twin
