// fma.rn.f32, mul.rn.f32, add.rn.f32: one rounding each, subnormals kept, every NaN result 0x7fffffff. PTX ISA, "fma", "mul", "add".
#pragma once

#include "emulator/number/float_bits.hpp"
