// What L2 makes of an FP32 element when cp.reduce.async.bulk.tensor.add adds to it: memory + value, rounded once.
//
//   global memory  [ m ]  <-  m + v          v from the box in shared memory
#pragma once

#include "emulator/number/float_bits.hpp"

namespace fp8twin {

/// The element of memory after `value` was added to it.
constexpr float reduce_add(float memory, float value) { return add_rn(memory, value); }

}  // namespace fp8twin
