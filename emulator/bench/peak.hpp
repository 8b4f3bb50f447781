// The processor's fused multiply-adds a second with registers of one path's width: what bounds every loop below.
#pragma once

#include <cstdint>

namespace fp8twin::bench {

/// `count` rounds of `peak_round` multiply-adds of whole registers; returns a value, so that they happen.
float peak_avx512(std::int64_t count);
float peak_avx2(std::int64_t count);

inline constexpr int peak_round = 24;  // registers' multiply-adds in one round

}  // namespace fp8twin::bench
