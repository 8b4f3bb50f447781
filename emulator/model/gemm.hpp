// The GEMM as arithmetic: engine `model`. For kinds 1d2d and wgmma what it prints is what an H200 printed, as
// recorded; the other kinds follow by the same formula.
//
//   final = +0
//   for each K block of 128, ascending:
//     P     = a chain of dot products of 32, from +0         tensor core, 13 bits     number/tensor_core.hpp
//     s     = mul_rn(a_scale, b_scale)                       FP32
//     final = fma_rn(s, P, final)                            FP32, one rounding: the promotion
//   d = c + final (if there is a c), then BF16 or FP32
//
// A K tail counts as zeros up to 128: they add nothing. Tile shapes, stages and clusters of a kernel never show in
// the bits, so none appear here. Status of each claim: docs/numerics.md; replayed: tests/golden.
//
// Modelled: E4M3 operands, FP32 scales, block scales along K. Not modelled: E5M2 operands, split K, a kernel's time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "emulator/files/tensor.hpp"
#include "emulator/model/problem.hpp"
#include "emulator/model/slices.hpp"
#include "emulator/number/tensor_core.hpp"
#include "emulator/support/simd.hpp"

namespace fp8twin {

struct GemmOptions {
  int threads = 0;      // 0: one for each hardware thread
  bool promote = true;  // false: one chain over all of K, then d = fl32(s * P); needs scales constant along K
  TensorCore core = sm90;  // "what if" it kept other bits
  Simd simd = best_simd();
  /// Of work units; called by one thread at a time.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

/// Computes d for every kind of problem. `output` is f32 or bf16; `d` has exactly the bytes of problem.d_shape() in
/// that type, row-major; rows that belong to no group come out zero. Throws Error.
void gemm(const Problem& problem, DType output, std::span<std::byte> d, const GemmOptions& options = {});

/// One slice into d (rows `ldd` elements apart, f32 or bf16): what gemm() does for each slice of a problem.
void gemm_slice(const GemmSlice& slice, DType output, std::byte* d, std::int64_t ldd,
                const GemmOptions& options);

}  // namespace fp8twin
