// What L2 makes of an FP32 element when cp.reduce.async.bulk.tensor adds to it (.add): memory + value, rounded once.
//
//   global memory  [ m ]  <-  m + v          v from the box in shared memory
//
// On an H200 this is add.rn.f32, bit for bit: nearest, ties to even; subnormals are kept, as operands and as results; every
// NaN result is 0x7fffffff; -0 only from -0 + -0. Not so red.global.add.f32 and atom.global.add.f32, which flush subnormal operands
// and results to zeros of their sign (add.rn.ftz.f32). Source: tests/golden/reduce.json.
//
// Not modelled: other elements than FP32, other operations than .add.
#pragma once

#include "emulator/number/float_bits.hpp"

namespace fp8twin {

/// The element of memory after `value` was added to it.
constexpr float reduce_add(float memory, float value) { return add_rn(memory, value); }

}  // namespace fp8twin
