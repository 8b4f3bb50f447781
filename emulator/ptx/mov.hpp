// mov.b32: the bits of a float as a word, and back. PTX ISA, "mov".
#pragma once

#include "emulator/layout/integers.hpp"
#include "emulator/number/float_bits.hpp"

namespace fp8twin {

inline u32 mov_b32_f32(float x) { return f32_bits(x); }
inline float mov_f32_b32(u32 bits) { return f32_from_bits(bits); }

}  // namespace fp8twin
