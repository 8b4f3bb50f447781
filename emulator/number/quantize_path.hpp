// The loops of quantisation as one path of support/simd.hpp offers them: pointers to functions, compiled for its
// instructions.
//
//     quantize.cpp ---> quantize_path(simd) --->  quantize_portable.cpp    16-byte vectors: SSE2, NEON
//     (blocks, scales,                            quantize_avx2.cpp        32
//      threads)                                   quantize_avx512.cpp      64
//                                                    each of them: quantize_loops.hpp, written once
//
// The three source files include this header, so it holds declarations and plain data only.
#pragma once

#include <cstdint>

namespace fp8twin {

/// A part of a row-major array: `rows` rows of `columns` elements, each row `pitch` elements after the last.
struct Patch {
  std::int64_t rows, columns, pitch;
};

/// How one block is cast: to E4M3 of x * factor, or of x / factor; see E4M3Cast for the two codes.
struct BlockCast {
  float factor;
  bool divide;
  bool
      special;  // the block holds an infinity or a NaN, or factor is 0, infinite or NaN: a quotient may be NaN
  std::uint8_t largest, nan;
};

/// The loops for one format of x. `x` points to BF16 or F16 words or to binary32; codes lie in the same Patch.
struct QuantizeLoops {
  /// The largest magnitude bits of the patch, in the format's own words. As integers NaN lies above infinity: the
  /// result is a NaN's if there is one, unless `ignore_nan`; then NaN counts as zero.
  std::uint32_t (*largest)(const void* x, const Patch& patch, bool ignore_nan);
  void (*encode)(const void* x, const Patch& patch, const BlockCast& cast, std::uint8_t* codes);
};

struct QuantizePath {
  QuantizeLoops bf16, f16, f32;
  /// fl32(code * scale), NaN canonical; the second rounds once more to BF16 words.
  void (*decode_f32)(const std::uint8_t* codes, std::int64_t count, float scale, float* x);
  void (*decode_bf16)(const std::uint8_t* codes, std::int64_t count, float scale, std::uint16_t* x);
};

extern const QuantizePath quantize_portable, quantize_avx2, quantize_avx512;

}  // namespace fp8twin
