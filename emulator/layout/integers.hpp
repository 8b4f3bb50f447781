// Integer types by width, for the headers that both compilers read.
//
// NVRTC has no standard header, not even <cstdint>; layout and kernel headers therefore include this one and
// nothing else. The widths are checked here, once.
#pragma once

namespace fp8twin {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;

static_assert(sizeof(u8) == 1 && sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8);

}  // namespace fp8twin
