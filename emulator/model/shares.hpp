// A problem cut into one share for each of several workers that have no memory in common: ranks of an MPI job.
//
//   slices            [      slice 0       ][ 1 ][         slice 2          ]      in the order of slices()
//   3 shares          |   share 0  |  share 1  |  share 2   |                      equal in multiply-adds
//
// The list is halved, and the halves again, in proportion to the workers on each side. Where the point of balance falls
// inside a slice, a rectangle of it is cut across its longer side: rows and columns that a worker must read then
// stay few. Rows are cut at multiples of 64, columns at multiples of 128, so that no block of B's scales is cut;
// each element of d belongs to exactly one share, and what it is does not depend on the cuts.
//
// A pure function: every rank computes all shares and takes its own, without a word between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/model/slices.hpp"

namespace fp8twin {

inline constexpr std::int64_t share_rows = 64, share_columns = 128;

/// Rows and columns of one slice's d.
struct Rectangle {
  std::size_t slice;  // which of slices()
  std::int64_t row, rows, column, columns;

  bool operator==(const Rectangle&) const = default;
};

using Share = std::vector<Rectangle>;

/// One share for each of `workers`, which may be empty where there is too little to cut.
std::vector<Share> shares(std::span<const GemmSlice> slices, int workers);

/// What computing the rectangle costs: its multiply-adds, and one for each output. A double, as the extents that a
/// header may claim multiply to more than 64 bits hold; it decides balance only, and IEEE makes it the same everywhere.
double work_of(const GemmSlice& slice, const Rectangle& rectangle);

/// A rectangle as a slice of its own.
struct Part {
  GemmSlice slice;
  std::vector<float> c;  // the rectangle's c where columns were cut off: a slice's c has rows of n
};

Part part_of(const GemmSlice& slice, const Rectangle& rectangle);

}  // namespace fp8twin
