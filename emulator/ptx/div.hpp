// div.rn.f32: a / b rounded once, to nearest even, subnormals kept; every NaN result 0x7fffffff. PTX ISA, "div".
#pragma once

#include "emulator/number/float_bits.hpp"

namespace fp8twin {

inline float div_rn(float a, float b) { return canonical(a / b); }

}  // namespace fp8twin
