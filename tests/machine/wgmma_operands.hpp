// Operands for the tests of wgmma: A and B as codes, stored to shared memory the way that a 32-byte swizzle wants them, held as
// fragments, and the product that emulator/number says they have.
#pragma once

#include <cstring>

#include "emulator/layout/descriptor.hpp"
#include "emulator/layout/fragment.hpp"
#include "emulator/number/tensor_core.hpp"
#include "tests/machine/small_kernel.hpp"

namespace fp8twin::test {

inline constexpr u32 a_rows = 64, most_n = 256;
/// A at the begin of shared memory, B at the next multiple of 1024 past it. Both in rows of 32 bytes, swizzled by 32 bytes.
inline constexpr u32 b_offset = 3 * 1024, shared_bytes = b_offset + most_n * 32;

struct Operands {
  std::vector<u8> a = std::vector<u8>(a_rows * 32), b = std::vector<u8>(most_n * 32);
  explicit Operands(u32 seed, bool nan = false) {
    u32 state = seed;
    for (std::vector<u8>* codes : {&a, &b}) {
      for (u8& code : *codes) {
        state = state * 1664525 + 1013904223;
        code = static_cast<u8>(state >> 24);
        if ((code & 0x7f) == 0x7f) code = 0x38;
      }
    }
    if (nan) a[32 * 5 + 3] = 0x7f, b[32 * 2 + 31] = 0xff;
  }
};

inline u64 descriptor(u32 offset) {
  return encode({.start_address = (dynamic_shared() & 0xffffff) + offset,
                 .stride_byte_offset = 256,
                 .swizzle = SwizzleMode::b32});
}

/// Stores `codes`, rows of 32 bytes, so that the two chunks of a row change places in every other group of four rows.
inline void store(const std::vector<u8>& codes, u32 offset) {
  for (u32 chunk = tid_x() % 128; chunk < codes.size() / 16; chunk += 128) {
    U32x4 v;
    std::memcpy(&v, codes.data() + 16 * chunk, 16);
    const u32 row = chunk / 2, half = chunk % 2, place = half ^ row / 4 % 2;
    st_shared_v4_u32(dynamic_shared() + offset + 32 * row + 16 * place, v);
  }
}

inline void store_operands(const Operands& o) {
  store(o.a, 0);
  store(o.b, b_offset);
  fence_proxy_async_shared_cta();
  bar_sync(0, 128);
}

inline AFragment fragment(const Operands& o) {
  AFragment f;
  for (u32 r = 0; r < 4; ++r) {
    f.reg[r] = 0;
    for (u32 byte = 0; byte < 4; ++byte) {
      const Coordinate at = a_fragment_coordinate(tid_x(), r, byte);
      f.reg[r] |= u32{o.a[32 * at.row + at.column]} << 8 * byte;
    }
  }
  return f;
}

struct Result {
  std::vector<float> d = std::vector<float>(a_rows * most_n);
  template <class Array>
  void take(Array& array, u32 n) {
    for (u32 r = 0; r < n / 2; ++r) {
      const Coordinate at = accumulator_coordinate(tid_x(), r);
      d[at.row * most_n + at.column] = array[r];
    }
  }
};

/// a and b with every sign turned where asked: wgmma's negation.
inline float expected(const Operands& o, u32 row, u32 column, float c, bool negate_a = false,
                      bool negate_b = false) {
  u8 a[32], b[32];
  for (u32 k = 0; k < 32; ++k) {
    a[k] = static_cast<u8>(o.a[32 * row + k] ^ (negate_a ? 0x80 : 0));
    b[k] = static_cast<u8>(o.b[32 * column + k] ^ (negate_b ? 0x80 : 0));
  }
  return dot(sm90, a, b, c);
}

template <class Value>
u64 differing(const Result& result, u32 n, const Value& value) {
  u64 count = 0;
  for (u32 row = 0; row < a_rows; ++row) {
    for (u32 column = 0; column < n; ++column)
      count += f32_bits(result.d[row * most_n + column]) != f32_bits(value(row, column));
  }
  return count;
}

inline const Setup warpgroup{.threads = 128, .shared_bytes = shared_bytes};

/// The operands stored, then `body`.
template <class Body>
auto with_operands(const Operands& o, const Body& body) {
  return [&o, body] {
    store_operands(o);
    body();
  };
}

inline constexpr auto mma = [](auto& d, u32 scale_d, machine::Site site = machine::Site::here()) {
  wgmma_mma_async_m64k32_f32_e4m3_e4m3(d, descriptor(0), descriptor(b_offset), scale_d, site);
};

}  // namespace fp8twin::test
