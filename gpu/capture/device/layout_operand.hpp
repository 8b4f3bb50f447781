// Which shared-memory address wgmma reads for byte k of row r of an operand: read off its results, one
// address bit at a time.
//
//   run j = 0..14    every byte of the region is 1.0 where bit j of its address is set, else 0
//   run 15           every byte is 1.0: a result of 0 now means that the byte lies outside the region
//
//   the other operand is an identity:  A under test, B = I[32 x 32]           D[r][n] = A[r][n]
//                                      B under test, A = I[64 x 32] (upper)   D[m][n] = B[n][m],  m < 32
//
// No swizzle formula enters here; the identity lies in core matrices without a swizzle.
#pragma once

#include "emulator/layout/descriptor.hpp"
#include "emulator/layout/fragment.hpp"
#include "gpu/capture/device/layout_records.hpp"
#include "gpu/ptx/bar.hpp"
#include "gpu/ptx/fence.hpp"
#include "gpu/ptx/ld_st.hpp"
#include "gpu/ptx/special_registers.hpp"
#include "gpu/ptx/wgmma.hpp"

namespace fp8twin::capture {

inline constexpr u32 code_one = 0x38;  // 1.0 in E4M3

FP8TWIN_DEVICE void clear_shared(u32 begin, u32 end) {
  for (u32 at = begin + tid_x() * 16; at < end; at += 128 * 16) st_shared_v4_u32(at, {});
}

/// `rows` x 32 codes, 1.0 where row = column: core matrices 128 bytes apart along K, 256 along the rows.
FP8TWIN_DEVICE void write_identity(u32 rows) {
  for (u32 chunk = tid_x(); chunk < rows * 2; chunk += 128) {
    const u32 row = chunk / 2, first = chunk % 2 * 16;
    u32 word[4];
    FP8TWIN_UNROLL
    for (u32 w = 0; w < 4; ++w) {
      const u32 column = first + 4 * w;
      word[w] = row / 4 * 4 == column ? code_one << (row % 4 * 8) : 0;
    }
    st_shared_v4_u32(selector_address + row / 8 * 256 + chunk % 2 * 128 + row % 8 * 16,
                     {word[0], word[1], word[2], word[3]});
  }
}

FP8TWIN_DEVICE u64 identity_descriptor() { return encode(MatrixDescriptor{selector_address, 128, 256}); }

/// Bit j of each byte's address as a code; j = 15: all ones.
FP8TWIN_DEVICE void write_address_bits(u32 j) {
  for (u32 at = tid_x() * 16; at < region_bytes; at += 128 * 16) {
    u32 word[4];
    FP8TWIN_UNROLL
    for (u32 w = 0; w < 4; ++w) {
      word[w] = 0;
      FP8TWIN_UNROLL
      for (u32 b = 0; b < 4; ++b) {
        const u32 address = region_bytes | (at + 4 * w + b);  // its bit 15 is set: the run of ones
        word[w] |= (address >> j & 1) * code_one << (8 * b);
      }
    }
    st_shared_v4_u32(region_begin + at, {word[0], word[1], word[2], word[3]});
  }
}

/// Registers of the accumulator, each the address of one byte so far.
template <u32 N>
struct Addresses {
  u32 bits[N / 2] = {};
  bool strange = false;  // a result that was neither 0 nor 1
};

template <u32 N>
FP8TWIN_DEVICE void read_address_bit(Addresses<N>& addresses, Accumulator<N>& d, u32 j) {
  FP8TWIN_UNROLL
  for (u32 i = 0; i < N / 2; ++i) {
    addresses.bits[i] |= (d[i] == 1.0f) << j;
    addresses.strange |= d[i] != 1.0f && d[i] != 0.0f;
  }
}

/// Operand A (N = 32) or B (N = 64) under test, one descriptor for each block.
template <bool TestB>
FP8TWIN_DEVICE void operand_addresses(const OperandArguments& g) {
  constexpr u32 N = TestB ? 64 : 32;
  const u64 tested = g.descriptors[ctaid_x()];
  clear_shared(selector_address, region_begin);
  clear_shared(region_begin + region_bytes, shared_end);
  bar_sync(0, 128);
  write_identity(TestB ? 64 : 32);
  Addresses<N> addresses;
  for (u32 j = 0; j <= region_address_bits; ++j) {
    write_address_bits(j);
    fence_proxy_async_shared_cta();
    bar_sync(0, 128);
    Accumulator<N> d = {};
    wgmma_fence(d);
    wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, TestB ? identity_descriptor() : tested,
                                         TestB ? tested : identity_descriptor(), 0);
    wgmma_commit_group();
    wgmma_wait_group<0>(d);
    read_address_bit(addresses, d, j);
    bar_sync(0, 128);
  }
  FP8TWIN_UNROLL
  for (u32 i = 0; i < N / 2; ++i) {
    const Coordinate at = accumulator_coordinate(tid_x(), i);
    const u32 row = TestB ? at.column : at.row, k = TestB ? at.row : at.column;
    const u32 bits = addresses.bits[i];
    const bool inside = bits >> region_address_bits & 1;
    if (k < 32) {
      g.addresses[(ctaid_x() * 64 + row) * 32 + k] =
          static_cast<u16>(inside && !addresses.strange ? bits & (region_bytes - 1) : u32{address_outside});
    }
  }
}

}  // namespace fp8twin::capture
