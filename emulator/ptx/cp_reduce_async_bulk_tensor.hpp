// TMA that adds: PTX ISA, "cp.reduce.async.bulk.tensor". What the machine does: emulator/machine/tensor_copy.cpp; the sum of two
// elements: emulator/number/reduce_add.hpp.
#pragma once

#include "emulator/machine/operations.hpp"

namespace fp8twin {

inline void cp_reduce_async_bulk_tensor_2d_add_global_shared(const TensorMap& map, i32 x, i32 y, u32 src,
                                                             machine::Site site = machine::Site::here()) {
  machine::reduce_add_tensor(machine::self(), map, {x, y, 0}, 2, src, site);
}

}  // namespace fp8twin
