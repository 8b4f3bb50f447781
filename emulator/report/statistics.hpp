// What a tensor holds, counted: how many NaN, infinities, zeros, subnormals; the range of the rest.
//
//     |<------------------------ elements ------------------------->|
//     | nan | infinite | finite: zero | subnormal | normal          |      negative: finite and below zero
//                                 [min ............... max]
//
// Subnormal is meant in the tensor's own format: exponent field zero, fraction not. E8M0 and integers have
// none. One- and two-byte formats are counted by code first and decoded once a code, so a large file costs
// one pass of bytes.
#pragma once

#include <cstdint>

#include "emulator/files/tensor.hpp"

namespace fp8twin {

struct Statistics {
  std::int64_t elements = 0;
  std::int64_t nan = 0, infinite = 0, zero = 0, subnormal = 0, negative = 0;
  std::int64_t power_of_two = 0;  // finite values 2^e, as a UE8M0 scale holds nothing else
  double min = 0, max = 0;        // of the finite values; 0 when there are none

  std::int64_t finite() const { return elements - nan - infinite; }
};

Statistics statistics(const Tensor& tensor, int threads = 0);

}  // namespace fp8twin
