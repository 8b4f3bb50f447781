// Two traces of one launch side by side: where, in the order of time, do they part first?
//
//   K block 0:  tile a, tile b  ->  k32 step 0, 1, 2, 3  ->  promotion
//   K block 1:  ...
//   output
//
// What one step leaves is where the next begins, so only the first difference says something about its cause: the copy
// that landed elsewhere, the dot product, the scales, the store. Engines, schedules and drivers may differ between two
// traces, that is what they are for; problem and configuration may not. Written by emulator/engine/trace_file.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "emulator/files/tensor.hpp"

namespace fp8twin {

/// By its metadata: kind "trace".
bool is_trace(const TensorFile& file);

struct TraceDifference {
  std::string step;    // "block 2, k32 step 1", "block 0, tile a", "block 2, promotion", "output"
  std::string tensor;  // and index: the element's place in the file
  Shape index;
  DType dtype = DType::f32;
  std::uint32_t a = 0, b = 0;  // bit patterns

  std::optional<std::int64_t> thread,
      reg;                           // of the warpgroups that multiply; none for a tile in shared memory
  std::int64_t row = 0, column = 0;  // tiles: row and column of A or B's block; else of the tile of D
  bool swapped = false;              // of step 9: a_tile is B's, b_tile A's, and the tile one of D transposed

  /// "block 2, k32 step 1: thread 77, register 43 (row 43, column 83 of the tile) holds 1 0x3f800000 in a, ... in b"
  std::string sentence() const;
};

/// Throws Error for a file that is no whole trace, and for two of different problems or configurations.
std::optional<TraceDifference> first_trace_difference(const TensorFile& a, const TensorFile& b);

}  // namespace fp8twin
