// The 64-bit shared-memory matrix descriptor that tells wgmma where a tile lies.
//
//    63 62 | 61    52 | 51 49 | 48 46 | 45          32 | 31 30 | 29           16 | 15 14 | 13         0
//    swizzle          | base          | stride >> 4            | leading >> 4            | start >> 4
//
// All byte counts are multiples of 16 below 2^18; the unnamed bits are zero. For a K-major tile without swizzle, the
// leading offset steps from one core matrix (8 rows of 16 bytes, 128 contiguous bytes) to the next along K, the stride
// offset along M or N. With a swizzle the leading offset is not read. Source: PTX ISA, "Matrix descriptor"; recorded on
// the card: tests/golden/layouts.json. What a descriptor makes wgmma read: emulator/layout/operand.hpp.
#pragma once

#include "emulator/layout/integers.hpp"
#include "emulator/layout/swizzle.hpp"

namespace fp8twin {

/// In bytes, but for base_offset, which shifts the swizzle's pattern by as many times 128 bytes (0..7).
struct MatrixDescriptor {
  u32 start_address = 0;
  u32 leading_byte_offset = 0;
  u32 stride_byte_offset = 0;
  u32 base_offset = 0;
  SwizzleMode swizzle = SwizzleMode::none;
  friend constexpr bool operator==(MatrixDescriptor, MatrixDescriptor) = default;
};

/// The bits no field owns: a descriptor that sets one of them was not made by this formula.
inline constexpr u64 descriptor_unused_bits = 0x3ff1c000c000c000u;

constexpr u64 encode(const MatrixDescriptor& d) {
  return u64{(d.start_address & 0x3ffff) >> 4} | u64{(d.leading_byte_offset & 0x3ffff) >> 4} << 16 |
         u64{(d.stride_byte_offset & 0x3ffff) >> 4} << 32 | u64{d.base_offset & 7} << 49 |
         static_cast<u64>(d.swizzle) << 62;
}

constexpr MatrixDescriptor decode_descriptor(u64 bits) {
  const auto bytes = [bits](u32 shift) { return static_cast<u32>((bits >> shift) & 0x3fff) << 4; };
  return {bytes(0), bytes(16), bytes(32), static_cast<u32>((bits >> 49) & 7),
          static_cast<SwizzleMode>(bits >> 62)};
}

}  // namespace fp8twin
