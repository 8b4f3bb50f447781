// The words that differ between the two compilers and that no function can stand for: the only macros of a
// kernel.
//
//   FP8TWIN_KERNEL(threads) name(arguments)   an entry: blocks of `threads`, at least one on a multiprocessor
//   FP8TWIN_GRID_CONSTANT Type name           its parameter, read where the launch put it: a tensor map must not be
//                                             copied to a stack
//   FP8TWIN_DEVICE     a function of a kernel: always inlined, since ptxas serialises a wgmma behind a real
//                      call (remark C7510)
//   FP8TWIN_UNROLL     before a loop that indexes registers: they have no run-time index
#pragma once

#define FP8TWIN_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads, 1)
#define FP8TWIN_GRID_CONSTANT   const __grid_constant__
#define FP8TWIN_DEVICE          __device__ __forceinline__
#define FP8TWIN_UNROLL          _Pragma("unroll")
