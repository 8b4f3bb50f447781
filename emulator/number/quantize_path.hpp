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

/// Blocks side by side in a row-major array: `rows` rows of `columns` elements, each row `pitch` elements after the last,
/// cut into blocks of `block` columns, of which the last may be narrower.
struct Run {
  std::int64_t rows, columns, pitch, block;
};

/// What the blocks of a run have in common: the code is cast(x * factor) or cast(x / factor); E4M3Cast has the rest.
struct RunCast {
  bool divide;
  std::uint8_t largest, nan;
};

struct BlockFactor {
  float factor;
  bool special;  // some quotient of the block is NaN or above 464, the last number that rounds to 448
};

/// The loops for one format of x. `x` points to BF16 or F16 words or to binary32; the codes lie in a like array.
struct QuantizeLoops {
  /// For each block the largest magnitude bits, in the format's own words. As integers NaN lies above infinity: it is the
  /// largest if there is one, unless `ignore_nan`; then it counts as zero.
  void (*largest)(const void* x, const Run& run, bool ignore_nan, std::uint32_t* each);
  void (*encode)(const void* x, const Run& run, const RunCast& cast, const BlockFactor* factors,
                 std::uint8_t* codes);
};

struct QuantizePath {
  QuantizeLoops bf16, f16, f32;
  /// fl32(code * scale), NaN canonical; the second rounds once more to BF16 words.
  void (*decode_f32)(const std::uint8_t* codes, std::int64_t count, float scale, float* x);
  void (*decode_bf16)(const std::uint8_t* codes, std::int64_t count, float scale, std::uint16_t* x);
};

extern const QuantizePath quantize_portable, quantize_avx2, quantize_avx512;

enum class Simd;
const QuantizePath& quantize_path(Simd simd);

}  // namespace fp8twin
