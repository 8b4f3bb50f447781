// Loads and stores of less than a word, and of two words. PTX ISA, "ld.global.nc", "st".
#pragma once

#include "emulator/ptx/ld_st.hpp"

namespace fp8twin {

/// Eight bytes in registers; x holds the lowest addresses.
struct U32x2 {
  u32 x = 0, y = 0;
};

inline u8 ld_global_nc_u8(const u8* address, machine::Site site = machine::Site::here()) {
  return machine::ld_global<u8>("ld.global.nc", address, site);
}
inline u16 ld_global_nc_u16(const u16* address, machine::Site site = machine::Site::here()) {
  return machine::ld_global<u16>("ld.global.nc", address, site);
}
inline U32x2 ld_global_nc_v2_u32(const void* address, machine::Site site = machine::Site::here()) {
  return machine::ld_global<U32x2>("ld.global.nc", address, site);
}
inline void st_global_u8(u8* address, u8 value, machine::Site site = machine::Site::here()) {
  machine::st_global("st.global", address, value, site);
}

}  // namespace fp8twin
