// cp.reduce.async.bulk.tensor: TMA adds a box from shared memory to a tensor in global memory. PTX ISA,
// "cp.reduce.async.bulk.tensor".
//
//   shared -> global   element of the tensor = element + element of the box, in the L2 cache; elements outside the
//                      tensor are not touched. How it rounds: docs/numerics.md
//
// A store in all else: the box at (x, y) of `map` from src, swizzled as the map says; one thread issues it, and the bulk groups
// of gpu/ptx/cp_async_bulk_tensor.hpp end it. The map says what is added: here FP32, and nothing else is modelled.
#pragma once

#include "emulator/layout/integers.hpp"
#include "emulator/layout/tensor_map.hpp"
#include "gpu/ptx/words.hpp"

namespace fp8twin {

FP8TWIN_DEVICE void cp_reduce_async_bulk_tensor_2d_add_global_shared(const TensorMap& map, i32 x, i32 y,
                                                                     u32 src) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
          &map),
      "r"(src), "r"(x), "r"(y)
      : "memory");
}

}  // namespace fp8twin
