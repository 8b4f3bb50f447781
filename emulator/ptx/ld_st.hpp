// Ordinary loads and stores. PTX ISA, "ld", "ld.global.nc", "st". A hint moves nothing that a bit could show, so it is taken and left.
#pragma once

#include "emulator/machine/operations.hpp"

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

namespace machine {
template <class T>
T ld_global(const char* instruction, const void* address, Site site) {
  T value;
  load_global(self(), instruction, address, &value, sizeof value, site);
  return value;
}
template <class T>
T ld_shared(const char* instruction, u32 address, Site site) {
  T value;
  load_shared(self(), instruction, address, &value, sizeof value, site);
  return value;
}
template <class T>
void st_global(const char* instruction, void* address, const T& value, Site site) {
  store_global(self(), instruction, address, &value, sizeof value, site);
}
template <class T>
void st_shared(const char* instruction, u32 address, const T& value, Site site) {
  store_shared(self(), instruction, address, &value, sizeof value, site);
}
}  // namespace machine

template <CacheHint = CacheHint::normal>
inline u32 ld_global_nc_u32(const u32* address, machine::Site site = machine::Site::here()) {
  return machine::ld_global<u32>("ld.global.nc", address, site);
}
template <CacheHint = CacheHint::normal>
inline float ld_global_nc_f32(const float* address, machine::Site site = machine::Site::here()) {
  return machine::ld_global<float>("ld.global.nc", address, site);
}
template <CacheHint = CacheHint::normal>
inline U32x4 ld_global_nc_v4_u32(const void* address, machine::Site site = machine::Site::here()) {
  return machine::ld_global<U32x4>("ld.global.nc", address, site);
}
template <CacheHint = CacheHint::normal>
inline u32 ld_global_u32(const u32* address, machine::Site site = machine::Site::here()) {
  return machine::ld_global<u32>("ld.global", address, site);
}
template <CacheHint = CacheHint::normal>
inline float ld_global_f32(const float* address, machine::Site site = machine::Site::here()) {
  return machine::ld_global<float>("ld.global", address, site);
}
template <CacheHint = CacheHint::normal>
inline void st_global_u16(u16* address, u16 value, machine::Site site = machine::Site::here()) {
  machine::st_global("st.global", address, value, site);
}
template <CacheHint = CacheHint::normal>
inline void st_global_u32(u32* address, u32 value, machine::Site site = machine::Site::here()) {
  machine::st_global("st.global", address, value, site);
}
template <CacheHint = CacheHint::normal>
inline void st_global_f32(float* address, float value, machine::Site site = machine::Site::here()) {
  machine::st_global("st.global", address, value, site);
}
template <CacheHint = CacheHint::normal>
inline void st_global_v4_u32(void* address, U32x4 value, machine::Site site = machine::Site::here()) {
  machine::st_global("st.global", address, value, site);
}
inline u32 ld_shared_u32(u32 address, machine::Site site = machine::Site::here()) {
  return machine::ld_shared<u32>("ld.shared", address, site);
}
inline float ld_shared_f32(u32 address, machine::Site site = machine::Site::here()) {
  return machine::ld_shared<float>("ld.shared", address, site);
}
inline F32x2 ld_shared_v2_f32(u32 address, machine::Site site = machine::Site::here()) {
  return machine::ld_shared<F32x2>("ld.shared", address, site);
}
inline U32x4 ld_shared_v4_u32(u32 address, machine::Site site = machine::Site::here()) {
  return machine::ld_shared<U32x4>("ld.shared", address, site);
}
inline void st_shared_u32(u32 address, u32 value, machine::Site site = machine::Site::here()) {
  machine::st_shared("st.shared", address, value, site);
}
inline void st_shared_f32(u32 address, float value, machine::Site site = machine::Site::here()) {
  machine::st_shared("st.shared", address, value, site);
}
inline void st_shared_v4_u32(u32 address, U32x4 value, machine::Site site = machine::Site::here()) {
  machine::st_shared("st.shared", address, value, site);
}

}  // namespace fp8twin
