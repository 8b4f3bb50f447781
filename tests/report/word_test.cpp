// Places and values of every dtype's patterns.
#include "emulator/report/word.hpp"

#include <array>
#include <limits>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {
constexpr std::array float_types{DType::f8_e4m3, DType::f8_e5m2, DType::bf16, DType::f16};
}

TEST_CASE("places ascend with values, one step at a time, in every small float") {
  for (const DType dtype : float_types) {
    const std::uint32_t sign = 1u << (8 * word_size(dtype) - 1);
    double last = -1;
    for (std::uint32_t bits = 0; bits < sign && !word_is_nan(dtype, bits); ++bits) {
      CHECK(word_place(dtype, bits) == bits);
      CHECK(word_place(dtype, bits | sign) == -static_cast<std::int64_t>(bits));
      CHECK(word_value(dtype, bits) > last);
      CHECK(word_value(dtype, bits | sign) == -word_value(dtype, bits));
      last = word_value(dtype, bits);
    }
  }
}

TEST_CASE("zeros share a place and infinity follows the largest finite value") {
  CHECK(word_place(DType::f32, 0x80000000u) == 0);
  CHECK(word_place(DType::f32, 0x7f800000u) - word_place(DType::f32, 0x7f7fffffu) == 1);
  CHECK(word_place(DType::f32, 0x00000001u) - word_place(DType::f32, 0x80000001u) == 2);
  CHECK(word_value(DType::f32, 0xff800000u) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("NaN patterns of every dtype") {
  CHECK((word_is_nan(DType::f8_e4m3, 0x7f) && word_is_nan(DType::f8_e4m3, 0xff) &&
         !word_is_nan(DType::f8_e4m3, 0x7e)));
  CHECK((word_is_nan(DType::f8_e5m2, 0x7d) && word_is_nan(DType::f8_e5m2, 0xff) &&
         !word_is_nan(DType::f8_e5m2, 0x7c)));
  CHECK((word_is_nan(DType::f8_e8m0, 0xff) && !word_is_nan(DType::f8_e8m0, 0xfe)));
  CHECK((word_is_nan(DType::bf16, 0x7f81) && word_is_nan(DType::bf16, 0xffff) &&
         !word_is_nan(DType::bf16, 0xff80)));
  CHECK((word_is_nan(DType::f16, 0x7c01) && word_is_nan(DType::f16, 0xfe00) &&
         !word_is_nan(DType::f16, 0x7c00)));
  CHECK((word_is_nan(DType::f32, 0x7f800001u) && word_is_nan(DType::f32, 0xffffffffu) &&
         !word_is_nan(DType::f32, 0xff800000u)));
  CHECK((!word_is_nan(DType::i32, 0xffffffffu) && !word_is_nan(DType::u8, 0xff)));
}

TEST_CASE("integers and E8M0 are their own place") {
  CHECK(word_place(DType::i32, 0x80000000u) == std::numeric_limits<std::int32_t>::min());
  CHECK(word_value(DType::i32, 0xffffffffu) == -1);
  CHECK((word_place(DType::u8, 200) == 200 && word_value(DType::u8, 200) == 200));
  CHECK((word_place(DType::f8_e8m0, 130) == 130 && word_value(DType::f8_e8m0, 130) == 8));
}
