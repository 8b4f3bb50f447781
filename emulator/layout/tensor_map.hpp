// The tensor map: what TMA knows of a tensor in global memory, and which box of it a copy moves.
//
//        size[0] elements, contiguous                box at (x, y):
//      +---------------------------------+             columns x .. x + box[0] - 1
//      |        (x,y) +-----+            |             rows    y .. y + box[1] - 1
//      |              | box |            | size[1]     outside the tensor: zeros on a load, nothing on a store
//      |              +-----+            | rows, stride[0] bytes apart;  coordinates are signed
//      +---------------------------------+             in shared memory: row after row, swizzled (below)
//
//   rows in shared memory                 no swizzle: packed            128B, box of 48 bytes: padded to 128
//                                         |row 0|row 1|row 2|...        |row 0|  untouched  |row 1|  untouched  |...
//
// A kernel sees 128 opaque bytes. On the card the driver fills them (cuTensorMapEncodeTiled); the emulated machine has its
// own encoding. Both start from a TensorMapDescription. Source: PTX ISA, "Tensor-map", "Tiled mode"; CUDA driver API. The
// padding and the copies that fault are recorded: tests/golden/layouts.json, docs/layouts.md.
//
// Modelled: tiled mode, rank 1 to 3, packed elements, no interleave, fill with zeros. Not modelled: im2col, rank 4 and 5,
// element strides, NaN fill; and that the card's store ends on a multiple of 16 bytes where a row does not (docs/layouts.md).
#pragma once

#include "emulator/layout/integers.hpp"
#include "emulator/layout/swizzle.hpp"

namespace fp8twin {

/// As the hardware wants it: 128 bytes on a 64-byte boundary, in a kernel's parameters.
struct alignas(64) TensorMap {
  u64 word[16];
};

enum class TensorElement : u32 { uint8 = 0, uint16 = 1, uint32 = 2, bf16 = 3, f32 = 4 };

constexpr u32 element_bytes(TensorElement element) {
  return element == TensorElement::uint8                                      ? 1
         : element == TensorElement::uint16 || element == TensorElement::bf16 ? 2
                                                                              : 4;
}

struct TensorMapDescription {
  u64 base = 0;  // global address, a multiple of 16
  TensorElement element = TensorElement::uint8;
  u32 rank = 2;             // 1 to 3
  u64 size[3] = {1, 1, 1};  // elements; dimension 0 is contiguous
  u64 stride[2] = {0, 0};   // bytes between neighbours of dimension 1 and of dimension 2; multiples of 16
  u32 box[3] = {1, 1, 1};   // elements, at most 256 each
  SwizzleMode swizzle = SwizzleMode::none;
};

/// Bytes that one copy moves and reports to its mbarrier: the whole box, whatever lies outside.
constexpr u32 box_bytes(const TensorMapDescription& map) {
  return map.box[0] * map.box[1] * map.box[2] * element_bytes(map.element);
}

/// Bytes from a row of the box to the next in shared memory: a swizzle pads a narrower box to its own width.
constexpr u32 box_row_pitch(const TensorMapDescription& map) {
  return map.swizzle == SwizzleMode::none ? map.box[0] * element_bytes(map.element)
                                          : swizzle_width(map.swizzle);
}

/// Bytes of shared memory from the start of the box to its end, padding included: box_bytes unless it is narrow.
constexpr u32 box_extent(const TensorMapDescription& map) {
  return map.box[2] * map.box[1] * box_row_pitch(map);
}

/// Signed, in elements: where a box begins, or one element of the tensor.
struct TensorCoordinate {
  i32 x = 0, y = 0, z = 0;
};

constexpr bool inside_tensor(const TensorMapDescription& map, TensorCoordinate at) {
  const auto within = [](i32 c, u64 size) { return c >= 0 && static_cast<u64>(c) < size; };
  return within(at.x, map.size[0]) && within(at.y, map.rank < 2 ? 1 : map.size[1]) &&
         within(at.z, map.rank < 3 ? 1 : map.size[2]);
}

/// The global address of an element inside the tensor.
constexpr u64 element_address(const TensorMapDescription& map, TensorCoordinate at) {
  return map.base + static_cast<u64>(at.x) * element_bytes(map.element) +
         static_cast<u64>(at.y) * map.stride[0] + static_cast<u64>(at.z) * map.stride[1];
}

/// Bytes from the start of the box in shared memory to its element (x, y, z), before the swizzle.
constexpr u32 box_offset(const TensorMapDescription& map, u32 x, u32 y, u32 z = 0) {
  return (z * map.box[1] + y) * box_row_pitch(map) + x * element_bytes(map.element);
}

/// What makes the card end the kernel instead of copying a box that begins at `at`.
enum class CopyFault : u32 {
  none,
  shared_address,  // no multiple of 128: "misaligned address"
  x,               // no multiple of 16 bytes: "illegal instruction"
  negative,        // a store at a negative coordinate (a load may): "illegal instruction"
};

constexpr CopyFault copy_fault(const TensorMapDescription& map, TensorCoordinate at, u32 address,
                               bool store) {
  if (address % 128 != 0) return CopyFault::shared_address;
  if (i64{at.x} * element_bytes(map.element) % 16 != 0) return CopyFault::x;
  if (store && (at.x < 0 || at.y < 0 || at.z < 0)) return CopyFault::negative;
  return CopyFault::none;
}

/// Where byte 0 of the box's element (x, y, z) lies when the box lands at `address`.
constexpr u32 box_element_address(const TensorMapDescription& map, u32 address, u32 x, u32 y, u32 z = 0) {
  return swizzle(map.swizzle, address + box_offset(map, x, y, z));
}

}  // namespace fp8twin
