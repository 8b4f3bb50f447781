// A comparison as text: what `fp8twin diff` prints, and what its HTML page shows.
//
//   d: 2 of 32768 elements differ (0.0061 %), by at most 1 ULP
//     BF16 [64, 512]
//     greatest absolute difference  0.0078125    at [3, 17]
//     greatest relative difference  0.00390625   at [3, 17]
//     calc_diff                     1.2e-09
//     ULP distance  elements
//                1         2  ########################################
//     first differences         a                b   owner, for tiles of 64 x 128
//       [3, 17]      1.5  0x3fc0   1.5078125  0x3fc1   tile (0, 0), warpgroup 0, warp 0, lane 12, ...
#pragma once

#include <optional>
#include <string>

#include "emulator/report/cause.hpp"
#include "emulator/report/compare.hpp"
#include "emulator/report/owner.hpp"

namespace fp8twin {

/// What is compared, and how its result is to be shown.
struct DiffSubject {
  std::string name;  // "d", or "d and data"
  Tensor a, b;
  std::optional<TileShape> tile;  // present: elements of a d, whose owners are named
  std::int64_t left_out = 0;      // elements of padding and masked rows that were not compared
};

/// "1.5", "-inf", "NaN": shortest digits that read back as the same value.
std::string word_text(DType dtype, std::uint32_t bits);
/// "0x3fc0"
std::string word_hex(DType dtype, std::uint32_t bits);
/// The owner of element `index` of a d with this shape.
Owner owner_of(const Shape& shape, std::int64_t index, TileShape tile);

std::string diff_text(const DiffSubject& subject, const Comparison& comparison, const DiffCause* cause);

}  // namespace fp8twin
