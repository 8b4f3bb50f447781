// Which byte of shared memory wgmma reads as byte k of row r of an operand (A: row of D; B: column of D).
//
//   no swizzle    start + (r/8) * stride + (k/16) * leading + (r%8) * 16 + k%16        core_matrix.hpp
//   swizzled      linear = start + (r/8) * stride + (r%8) * width + k                  width 128, 64, 32
//                 linear ^ the chunk bits that the pattern gives at linear - 128 * base offset
//
//                 |<- width ->|
//          row 0  +-----------+   K step s of a swizzled tile: start + 32 s. The XOR acts on the absolute address
//          row 1  |           |   after the sum, so a start inside a row finds the chunks where TMA put them.
//            ...  |           |
//          row 8  +-----------+   start + stride: any multiple of 16, also off the pattern's period
//
// The base offset moves the pattern, not the tile: with base offset b the pattern's row 0 lies on the addresses that are
// 128 b past a multiple of the period. 0 is right for whatever TMA wrote, wherever the tile begins, because TMA swizzles
// by absolute address. b = (start / 128) % 8 is right only for a tile that was swizzled as if its own first byte were
// address 0.
//
// Source: PTX ISA, "Shared Memory Matrix Layout", "Strides", "Matrix Descriptor"; every statement recorded on the card
// (tests/golden/layouts.json, "operands"): starts of 0 to 7 times 128 bytes and of 16 to 112, base offsets 0 to 7, A and B.
#pragma once

#include "emulator/layout/core_matrix.hpp"
#include "emulator/layout/descriptor.hpp"

namespace fp8twin {

/// The address before the swizzle. k: 0 to 31 for one instruction.
constexpr u32 wgmma_operand_linear_address(const MatrixDescriptor& d, u32 row, u32 k) {
  if (d.swizzle == SwizzleMode::none)
    return d.start_address + core_matrix_offset(d.leading_byte_offset, d.stride_byte_offset, row, k);
  return d.start_address + row / 8 * d.stride_byte_offset + row % 8 * swizzle_width(d.swizzle) + k;
}

constexpr u32 wgmma_operand_address(const MatrixDescriptor& d, u32 row, u32 k) {
  const u32 linear = wgmma_operand_linear_address(d, row, k);
  return linear ^ swizzle_bits(d.swizzle, linear - 128 * d.base_offset);
}

}  // namespace fp8twin
