// One element of any tensor as a comparison sees it: its bits, its value, its place among its format's
// values.
//
// The place is what ULP distances are made of. A float's magnitude bits, read as an integer, count the
// values upwards from zero; with the sign put in front they number all values, -0 and +0 sharing place 0,
// infinity one step past the largest finite value:
//
//    bits (E4M3)   0xfe   ...  0x81   0x80 0x00   0x01   ...  0x7e
//    place         -126   ...   -1      0    0      1    ...   126     distance = |place(x) - place(y)|
//
// Integers are their own place; E8M0 has no sign and no zero, so its place is its code. NaN has no place.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator/files/tensor.hpp"
#include "emulator/number/bf16.hpp"
#include "emulator/number/e4m3.hpp"
#include "emulator/number/e5m2.hpp"
#include "emulator/number/e8m0.hpp"
#include "emulator/number/f16.hpp"

namespace fp8twin {

/// Calls body(std::integral_constant<DType, dtype>) so that an inner loop knows its element type.
template <class Body>
decltype(auto) with_dtype(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f8_e4m3:
      return body(std::integral_constant<DType, DType::f8_e4m3>{});
    case DType::f8_e5m2:
      return body(std::integral_constant<DType, DType::f8_e5m2>{});
    case DType::f8_e8m0:
      return body(std::integral_constant<DType, DType::f8_e8m0>{});
    case DType::bf16:
      return body(std::integral_constant<DType, DType::bf16>{});
    case DType::f16:
      return body(std::integral_constant<DType, DType::f16>{});
    case DType::f32:
      return body(std::integral_constant<DType, DType::f32>{});
    case DType::i32:
      return body(std::integral_constant<DType, DType::i32>{});
    case DType::u8:
      break;
  }
  return body(std::integral_constant<DType, DType::u8>{});
}

/// Bytes of an element, as dtype_size() says, for constant expressions.
constexpr std::size_t word_size(DType dtype) {
  if (dtype == DType::f32 || dtype == DType::i32) return 4;
  return dtype == DType::bf16 || dtype == DType::f16 ? 2 : 1;
}

/// Is the pattern a NaN? (Never, for integers.)
constexpr bool word_is_nan(DType dtype, std::uint32_t bits) {
  switch (dtype) {
    case DType::f8_e4m3:
      return E4M3{static_cast<std::uint8_t>(bits)}.is_nan();
    case DType::f8_e5m2:
      return E5M2{static_cast<std::uint8_t>(bits)}.is_nan();
    case DType::f8_e8m0:
      return bits == 0xff;
    case DType::bf16:
      return (bits & 0x7fff) > 0x7f80;
    case DType::f16:
      return (bits & 0x7fff) > 0x7c00;
    case DType::f32:
      return (bits & ~f32_sign) > f32_infinity;
    case DType::i32:
    case DType::u8:
      break;
  }
  return false;
}

/// The value; exact, since every format here fits a double.
constexpr double word_value(DType dtype, std::uint32_t bits) {
  switch (dtype) {
    case DType::f8_e4m3:
      return E4M3{static_cast<std::uint8_t>(bits)}.value();
    case DType::f8_e5m2:
      return E5M2{static_cast<std::uint8_t>(bits)}.value();
    case DType::f8_e8m0:
      return E8M0{static_cast<std::uint8_t>(bits)}.value();
    case DType::bf16:
      return BF16{static_cast<std::uint16_t>(bits)}.value();
    case DType::f16:
      return F16{static_cast<std::uint16_t>(bits)}.value();
    case DType::f32:
      return f32_from_bits(bits);
    case DType::i32:
      return static_cast<std::int32_t>(bits);
    case DType::u8:
      break;
  }
  return bits;
}

/// The place of a pattern that is no NaN.
constexpr std::int64_t word_place(DType dtype, std::uint32_t bits) {
  if (dtype == DType::i32) return static_cast<std::int32_t>(bits);
  if (dtype == DType::u8 || dtype == DType::f8_e8m0) return bits;
  const std::uint32_t sign = 1u << (8 * word_size(dtype) - 1);
  const std::int64_t magnitude = bits & (sign - 1);
  return bits & sign ? -magnitude : magnitude;
}

/// The bit pattern of element `index` of little-endian `bytes`.
template <DType dtype>
std::uint32_t load_word(const std::byte* bytes, std::int64_t index) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, bytes + static_cast<std::size_t>(index) * word_size(dtype), word_size(dtype));
  return bits;
}

/// The same for a whole tensor whose dtype is known at run time only.
inline std::uint32_t load_word(const Tensor& tensor, std::int64_t index) {
  return with_dtype(tensor.dtype, [&](auto dtype) { return load_word<dtype>(tensor.bytes.data(), index); });
}

}  // namespace fp8twin
