// The oracle of the number formats: a sorted list of values, and rounding as a search in it.
//
// It knows a format only as (exponent bits, fraction bits, bias, magnitude code of the largest finite value),
// builds every value with std::ldexp in double, and rounds by comparing |x| with the midpoints of
// neighbouring values:
//
//      v0 = 0      v1          v2          v3       a midpoint is exact in double, and in binary32;
//      |-----+-----|-----+-----|-----+-----|        |x| on a midpoint goes to the even code, else to the
//           m0          m1          m2              nearer; beyond the last midpoint is overflow
//
// It shares no line with emulator/number, works on no bits of x, and rounds nothing itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace fp8twin::test {

class NearestOracle {
 public:
  NearestOracle(int exponent_bits, int fraction_bits, int bias, std::uint32_t largest)
      : sign_(1u << (exponent_bits + fraction_bits)), largest_(largest) {
    const std::uint32_t fractions = 1u << fraction_bits;
    for (std::uint32_t code = 0; code <= largest + 1;
         ++code) {  // one more than there is: where overflow begins
      const int field = static_cast<int>(code / fractions);
      const double fraction = static_cast<double>(code % fractions) / fractions;
      values_.push_back(field == 0 ? std::ldexp(fraction, 1 - bias)
                                   : std::ldexp(1.0 + fraction, field - bias));
    }
    for (std::uint32_t code = 0; code <= largest; ++code) {
      midpoints_.push_back((values_[code] + values_[code + 1]) / 2);
    }
  }

  std::uint32_t largest() const { return largest_; }
  /// The midpoint between the values of magnitude codes `code` and `code + 1`.
  double midpoint(std::uint32_t code) const { return midpoints_[code]; }
  double value(std::uint32_t magnitude) const { return values_[magnitude]; }

  /// The code of finite x: magnitude largest() + 1 stands for an overflow.
  std::uint32_t round(double x) const {
    const double size = std::fabs(x);
    const auto first = std::lower_bound(midpoints_.begin(), midpoints_.end(), size);  // first midpoint >= |x|
    auto magnitude = static_cast<std::uint32_t>(first - midpoints_.begin());
    if (first != midpoints_.end() && *first == size && magnitude % 2 == 1) ++magnitude;
    return magnitude | (std::signbit(x) ? sign_ : 0);
  }

 private:
  std::uint32_t sign_, largest_;
  std::vector<double> values_, midpoints_;
};

inline const NearestOracle& e4m3_oracle() {
  static const NearestOracle oracle(4, 3, 7, 126);
  return oracle;
}
inline const NearestOracle& e5m2_oracle() {
  static const NearestOracle oracle(5, 2, 15, 123);
  return oracle;
}
inline const NearestOracle& f16_oracle() {
  static const NearestOracle oracle(5, 10, 15, 30 * 1024 + 1023);
  return oracle;
}
inline const NearestOracle& bf16_oracle() {
  static const NearestOracle oracle(8, 7, 127, 254 * 128 + 127);
  return oracle;
}

}  // namespace fp8twin::test
