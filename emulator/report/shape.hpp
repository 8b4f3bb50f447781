// shape:stride, the notation in which layouts are written and talked about.
//
//     (64,32):(32,1)                 coordinate (r, c) is element 32 r + c: rows one after the other
//     ((8,8),(16,2)):((16,256),(1,128))
//                                    a coordinate may itself be split, its first part running fastest: row r lies at
//                                    16 (r % 8) + 256 (r / 8), byte k at (k % 16) + 128 (k / 16): core matrices
//
// Shape and stride have the same brackets; a stride of 0 repeats an element. Only what a formula of products and sums can
// say: a swizzle stands in front of it, as Sw<bits,4,3>, and is applied to the address afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fp8twin {

/// One extent with its stride, or (if there are parts) a list of modes.
struct ShapeMode {
  std::int64_t extent = 1, stride = 0;
  std::vector<ShapeMode> parts;
  friend bool operator==(const ShapeMode&, const ShapeMode&) = default;
};

/// Throws Error with what was found and where, unless `text` is shape:stride with extents from 1 and strides from 0, and
/// no element lies past 2^62.
ShapeMode parse_shape_stride(const std::string& text);

/// What parse_shape_stride reads.
std::string to_string(const ShapeMode& mode);

/// How many coordinates there are.
std::int64_t size(const ShapeMode& mode);

/// The element at `index`, which counts through the parts, the first one fastest.
std::int64_t offset(const ShapeMode& mode, std::int64_t index);

/// The element at one index for each part of `mode`.
std::int64_t offset(const ShapeMode& mode, std::span<const std::int64_t> indices);

}  // namespace fp8twin
