// Which byte of shared memory wgmma reads as byte k of row r of an operand (A: row of D; B: column of D).
//
//   no swizzle    start + (r/8) * stride + (k/16) * leading + (r%8) * 16 + k%16        core matrices
//   swizzled      swizzle(start + (r/8) * stride + (r%8) * width + k)                  width 128, 64, 32
//
//                 |<- width ->|
//          row 0  +-----------+   K step s of a swizzled tile: start + 32 s. The XOR acts on the absolute address
//          row 1  |           |   after the sum, so a start inside a row finds the chunks where TMA put them.
//            ...  |           |
//          row 8  +-----------+   start + stride
//
// Source: PTX ISA, "Shared Memory Matrix Layout", "Strides", "Matrix Descriptor".
#pragma once

#include "emulator/layout/descriptor.hpp"

namespace fp8twin {

/// The address before the swizzle. k: 0 to 31 for one instruction.
constexpr u32 wgmma_operand_linear_address(const MatrixDescriptor& d, u32 row, u32 k) {
  const u32 group = d.start_address + row / 8 * d.stride_byte_offset + row % 8 * swizzle_width(d.swizzle);
  return d.swizzle == SwizzleMode::none ? group + k / 16 * d.leading_byte_offset + k % 16 : group + k;
}

constexpr u32 wgmma_operand_address(const MatrixDescriptor& d, u32 row, u32 k) {
  return swizzle(d.swizzle, wgmma_operand_linear_address(d, row, k));
}

}  // namespace fp8twin
