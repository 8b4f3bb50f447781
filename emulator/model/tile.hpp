// A tile of D and the three ways to compute it; which one is chosen never shows in the bits.
//
//   tile_dot.cpp     dot() for each element: any tensor core, slowly          number/tensor_core.hpp
//   tile_group.cpp   a row by 64 columns, plain C++: the portable path        number/group_step.hpp
//   tile_lanes.cpp   rows by 64 columns, AVX2 or AVX-512                      number/lanes/lanes.hpp
//
//          n0      n0 + columns
//     m0  +----------+
//         |   tile   |   values(): the sums over all of K, promoted or one chain, 64 columns together;
//         +----------+   finish_tile() adds c, rounds and stores
//
// A worker belongs to one thread and keeps its room from tile to tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "emulator/files/tensor.hpp"
#include "emulator/model/slices.hpp"
#include "emulator/number/tensor_core.hpp"
#include "emulator/support/simd.hpp"

namespace fp8twin {

struct Tile {
  const GemmSlice& slice;
  const TensorCore& core;
  bool promote;  // true only where there are scales
  std::int64_t m0, n0;
  int rows, columns;

  const std::uint8_t* a(int row) const { return slice.a + (m0 + row) * slice.lda; }
  const std::uint8_t* b(int column) const { return slice.b + (n0 + column) * slice.ldb; }
  float a_scale(int row, std::int64_t k_block) const {
    return slice.a_scale[(m0 + row) * slice.a_scale_stride + k_block];
  }
  float b_scale(int column, std::int64_t k_block) const {
    return slice.b_scale[(n0 + column) / slice.b_scale_rows * slice.b_scale_stride + k_block];
  }
  /// What a wgmma's chain starts from; elsewhere c comes last.
  float chain_start(int row, int column) const {
    return slice.a_scale || !slice.c ? 0.0f : slice.c[(m0 + row) * slice.n + n0 + column];
  }
};

inline constexpr int tile_strip = 64;  // columns that lie together

class TileWorker {
 public:
  virtual ~TileWorker() = default;
  virtual int most_rows() const = 0;     // of a tile
  virtual int most_columns() const = 0;  // a multiple of 64
  virtual void compute(const Tile& tile) = 0;
  /// Of the tile computed last, the row's sums from `column`, a multiple of 64, to the next one. NaNs are
  /// canonical, but for a chain of no steps: that is C as it was.
  virtual const float* values(int row, int column) const = 0;
};

/// The fastest worker for `core` with the instructions of `simd`.
std::unique_ptr<TileWorker> make_tile_worker(const TensorCore& core, Simd simd);

std::unique_ptr<TileWorker> make_dot_worker();
std::unique_ptr<TileWorker> make_group_worker();
std::unique_ptr<TileWorker> make_lanes_worker(Simd simd);

/// Multiplies by the one scale of an unpromoted chain, adds c, rounds to `output` and writes the tile to d, whose rows are
/// `ldd` elements apart and whose row 0, column 0 is the slice's.
void finish_tile(const Tile& tile, const TileWorker& worker, DType output, std::byte* d, std::int64_t ldd);

}  // namespace fp8twin
