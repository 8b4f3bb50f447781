// What the layout captures take and leave behind: plain structs and addresses that both sides read.
//
//   shared window of a block (absolute .shared addresses)
//
//     0x0400 ...    0x2000           0x8000                 0xc000             0x10000           0x14000
//     | barrier     | selector tile  | region under test: TMA's half | wgmma's, all of it | zeros |
//
// The region begins on a multiple of its own size, so that an address is 0x8000 with its low 15 bits set at
// will, and those 15 bits can be read one at a time.
#pragma once

#include "emulator/layout/integers.hpp"
#include "emulator/layout/tensor_map.hpp"

namespace fp8twin::capture {

inline constexpr u32 selector_address = 0x2000;
inline constexpr u32 region_begin = 0x8000;
inline constexpr u32 region_address_bits = 15;
inline constexpr u32 region_bytes = 1u << region_address_bits;
inline constexpr u32 tma_region_bytes = 0x4000;
inline constexpr u32 shared_end = 0x14000;  // bytes of dynamic shared memory to ask for: more than is used
inline constexpr u16 address_outside = 0xffff;

/// Where shared memory begins, as one block saw it.
struct WindowRecord {
  u32 dynamic_begin, static_begin;  // static_begin: 0xffffffff where the kernel has no static shared memory
  u32 rank, mapa_rank_0, mapa_rank_1;  // mapa of dynamic_begin
  u32 reserved_begin, reserved_end;    // %reserved_smem_offset_begin, _end
  u32 total_bytes, dynamic_bytes;      // %total_smem_size, %dynamic_smem_size
};

struct WindowArguments {
  WindowRecord* records;  // [blocks]
};

/// One TMA copy between the region and a tensor.
struct TmaArguments {
  TensorMap map;
  u32 rank;
  i32 x, y, z;
  u32 address;  // in shared memory, absolute
  u32 bytes;    // what the barrier is told to expect
  u32* region;  // [tma_region_bytes / 4]: the region afterwards (loads)
  u32* completed;
};

/// One wgmma whose operand under test is described by a descriptor.
struct OperandArguments {
  const u64* descriptors;  // [blocks]
  u16* addresses;          // [blocks][64][32]: where byte k of row r was read, less region_begin
};

struct FragmentArguments {
  u16* elements;
};

struct StmatrixArguments {
  u16* stored;  // [6][256]: x1, x2, x4, then the same with .trans
};

}  // namespace fp8twin::capture
