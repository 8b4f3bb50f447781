// What the benchmarks' own kernels take: plain structs that both sides read.
#pragma once

#include "emulator/layout/integers.hpp"

namespace fp8twin::bench {

struct EmptyArguments {
  u32 nothing = 0;
};

/// 16-byte words that are read once, and the sum (exclusive or) of all of them.
struct StreamArguments {
  const void* words;
  u64 count;
  u32* sum;
};

}  // namespace fp8twin::bench
