#include "emulator/report/statistics.hpp"

#include <array>
#include <limits>

#include "tests/catch.hpp"

using namespace fp8twin;

namespace {

template <class T>
Statistics of(DType dtype, const std::vector<T>& values) {
  return statistics(tensor_of<T>("x", dtype, {static_cast<std::int64_t>(values.size())}, values), 1);
}

template <class Code>
Statistics of_all_codes(DType dtype) {
  std::vector<Code> codes(std::size_t{1} << (8 * sizeof(Code)));
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<Code>(i);
  return of(dtype, codes);
}

}  // namespace

TEST_CASE("every code of each small format: the counts follow from the format's table") {
  const Statistics e4m3 = of_all_codes<std::uint8_t>(DType::f8_e4m3);
  CHECK(e4m3.elements == 256);
  CHECK(e4m3.nan == 2);
  CHECK(e4m3.infinite == 0);
  CHECK(e4m3.zero == 2);
  CHECK(e4m3.subnormal == 14);
  CHECK(e4m3.negative == 126);
  CHECK(e4m3.power_of_two == 18);  // 2^-9 to 2^8
  CHECK(e4m3.min == -448);
  CHECK(e4m3.max == 448);

  const Statistics e5m2 = of_all_codes<std::uint8_t>(DType::f8_e5m2);
  CHECK(e5m2.nan == 6);
  CHECK(e5m2.infinite == 2);
  CHECK(e5m2.zero == 2);
  CHECK(e5m2.subnormal == 6);
  CHECK(e5m2.max == 57344);
  CHECK(e5m2.power_of_two == 32);  // 2^-16 to 2^15

  const Statistics e8m0 = of_all_codes<std::uint8_t>(DType::f8_e8m0);
  CHECK(e8m0.nan == 1);
  CHECK(e8m0.zero == 0);
  CHECK(e8m0.subnormal == 0);
  CHECK(e8m0.power_of_two == 255);
  CHECK(e8m0.min == 0x1p-127);
  CHECK(e8m0.max == 0x1p127);

  const Statistics f16 = of_all_codes<std::uint16_t>(DType::f16);
  CHECK(f16.nan == 2 * 1023);
  CHECK(f16.infinite == 2);
  CHECK(f16.subnormal == 2 * 1023);
  CHECK(f16.max == 65504);

  const Statistics bf16 = of_all_codes<std::uint16_t>(DType::bf16);
  CHECK(bf16.nan == 2 * 127);
  CHECK(bf16.subnormal == 2 * 127);
  CHECK(bf16.max == 0x1.fep127);

  const Statistics u8 = of_all_codes<std::uint8_t>(DType::u8);
  CHECK(u8.max == 255);
  CHECK(u8.min == 0);
  CHECK(u8.zero == 1);
  CHECK(u8.negative == 0);
}

TEST_CASE("floats and integers") {
  using Limits = std::numeric_limits<float>;
  const Statistics f32 = of<float>(DType::f32, {1.5f, -0.0f, Limits::denorm_min(), -Limits::infinity(),
                                                Limits::quiet_NaN(), -3.0f, 0.25f, Limits::max()});
  CHECK(f32.elements == 8);
  CHECK(f32.finite() == 6);
  CHECK(f32.nan == 1);
  CHECK(f32.infinite == 1);
  CHECK(f32.zero == 1);
  CHECK(f32.subnormal == 1);
  CHECK(f32.negative == 1);
  CHECK(f32.power_of_two == 2);
  CHECK(f32.min == -3);
  CHECK(f32.max == double{Limits::max()});
  const Statistics i32 = of<std::int32_t>(DType::i32, {-1, 0, std::numeric_limits<std::int32_t>::min(), 7});
  CHECK(i32.min == -2147483648.0);
  CHECK(i32.max == 7);
  CHECK(i32.negative == 2);
  CHECK(i32.subnormal == 0);
}

TEST_CASE("nothing finite: no range") {
  CHECK(of<float>(DType::f32, {}).elements == 0);
  const Statistics nan = of<std::uint8_t>(DType::f8_e4m3, {0x7f, 0xff});
  CHECK(nan.finite() == 0);
  CHECK(nan.min == 0);
  CHECK(nan.max == 0);
}

TEST_CASE("a range above zero does not reach down to zero, whatever the number of chunks and threads") {
  std::vector<std::uint8_t> codes((std::size_t{1} << 23) + 5, 0x38);  // 1.0; three chunks
  codes.back() = 0x40;                                                // 2.0
  codes[1] = 0x7f;
  for (const int threads : {1, 3}) {
    const Statistics s = statistics(
        tensor_of<std::uint8_t>("x", DType::f8_e4m3, {static_cast<std::int64_t>(codes.size())}, codes),
        threads);
    CHECK(s.elements == static_cast<std::int64_t>(codes.size()));
    CHECK(s.nan == 1);
    CHECK(s.min == 1);
    CHECK(s.max == 2);
    CHECK(s.power_of_two == s.elements - 1);
  }
}
