// The bugs of gpu/kernels/broken_pipeline.hpp by name, and what a launch of it needs: for the machine and for the card alike.
#pragma once

#include <span>
#include <string_view>

#include "gpu/kernels/broken_pipeline.hpp"

namespace fp8twin {

struct NamedBug {
  Bug bug;
  std::string_view name;  // as the enumerator
  bool hangs;             // never ends, whatever the timing
};

/// All of them, `none` first.
std::span<const NamedBug> named_bugs();

struct BrokenMaps {
  TensorMapDescription a, b, d;
};

/// a and b [64][128 * k_blocks] codes, d [64][64] BF16, at these addresses.
BrokenMaps broken_maps(Bug bug, u32 k_blocks, u64 a, u64 b, u64 d);

}  // namespace fp8twin
