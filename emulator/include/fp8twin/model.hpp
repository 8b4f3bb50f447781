// fp8twin's frozen entry for other projects' tests: the bits of Hopper's FP8 GEMM, over plain spans.
//
//     find_package(fp8twin REQUIRED)
//     target_link_libraries(your_test PRIVATE fp8twin::emulator)
//
//     #include <fp8twin/model.hpp>
//     fp8twin::gemm(m, n, k, a, a_scale, b, b_scale, d);      // d: float, or BF16 bits as std::uint16_t
//
// Arrays are dense and row-major, K innermost; operands that lie otherwise go through a MatrixView. Codes are E4M3. Every
// function checks the sizes of its spans and throws fp8twin::Error (a std::runtime_error, from fp8twin/error.hpp) with one
// sentence. Results do not depend on
// the number of threads, on the processor's vector instructions, or on the rounding mode and the flushing of subnormals that
// the caller has set. What is modelled, and the evidence for it: docs/numerics.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fp8twin/error.hpp"

namespace fp8twin {

struct ModelOptions {
  int threads = 0;         // 0: one for each hardware thread
  bool promote = true;     // false: one chain over all of K, then one multiplication; scales constant along K
  int fraction_bits = 13;  // of the tensor core's alignment; 13 is Hopper
  std::int64_t b_rows = 128;  // rows of b that share a scale: 128 ("1D2D") or 1 ("1D1D")
};

/// d[m,n] = c + sum over blocks of 128 along K of a_scale * b_scale * (a b^T), as an SM90 computes it.
///
/// a [m,k], a_scale [m, ceil(k/128)], b [n,k], b_scale [ceil(n/b_rows), ceil(k/128)], c [m,n] or empty, d [m,n].
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::span<const std::uint8_t> a,
          std::span<const float> a_scale, std::span<const std::uint8_t> b, std::span<const float> b_scale,
          std::span<float> d, const ModelOptions& options = {}, std::span<const float> c = {});

/// The same with d rounded to BF16, as bit patterns.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::span<const std::uint8_t> a,
          std::span<const float> a_scale, std::span<const std::uint8_t> b, std::span<const float> b_scale,
          std::span<std::uint16_t> d, const ModelOptions& options = {}, std::span<const float> c = {});

/// A matrix [rows, columns] of E4M3 codes, wherever its elements lie: (r, c) is data[r * row_stride + c * column_stride].
/// Strides are in elements, zero or more; `data` must reach from element (0, 0) to the last one.
struct MatrixView {
  std::span<const std::uint8_t> data;
  std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;
};

/// A dense row-major matrix.
constexpr MatrixView row_major(std::span<const std::uint8_t> data, std::int64_t rows, std::int64_t columns) {
  return {data, rows, columns, columns, 1};
}

// The same GEMM over views, named as BLAS and DeepGEMM do: n, as it stands in A B; t, transposed.
//
//             a        b
//   gemm_nt   [m,k]    [n,k]         the one FP8 tensor cores compute
//   gemm_nn   [m,k]    [k,n]
//   gemm_tn   [k,m]    [k,n]
//   gemm_tt   [k,m]    [n,k]
//
// Whatever the name, K must be the dimension whose elements lie one after another in both (or have one element at most): FP8
// wgmma reads both operands K-major; only 16-bit types may be MN-major. So gemm_nn takes a b [k,n] that is stored column by
// column, and throws Error for a row-major one, which transpose() below makes one for gemm_nt. Scales keep gemm()'s order
// under every name: a_scale [m, ceil(k/128)], b_scale [ceil(n/b_rows), ceil(k/128)], dense; c and d [m,n], dense.
void gemm_nt(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<float> d, const ModelOptions& options = {},
             std::span<const float> c = {});
void gemm_nn(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<float> d, const ModelOptions& options = {},
             std::span<const float> c = {});
void gemm_tn(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<float> d, const ModelOptions& options = {},
             std::span<const float> c = {});
void gemm_tt(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<float> d, const ModelOptions& options = {},
             std::span<const float> c = {});

// The same with d rounded to BF16, as bit patterns.
void gemm_nt(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options = {},
             std::span<const float> c = {});
void gemm_nn(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options = {},
             std::span<const float> c = {});
void gemm_tn(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options = {},
             std::span<const float> c = {});
void gemm_tt(const MatrixView& a, std::span<const float> a_scale, const MatrixView& b,
             std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options = {},
             std::span<const float> c = {});

/// x [rows, columns] to y [columns, rows]: E4M3 codes, or scales. The scales of 128x128 blocks go with their codes, as a
/// matrix [ceil(rows/128), ceil(columns/128)]. (Scales of 1x128 do not: quantise the transposed values.)
void transpose(std::int64_t rows, std::int64_t columns, std::span<const std::uint8_t> x,
               std::span<std::uint8_t> y);
void transpose(std::int64_t rows, std::int64_t columns, std::span<const float> x, std::span<float> y);

/// Rows of a K block in the layout below: rows rounded up to 4, so that each block begins on a multiple of 16 bytes.
constexpr std::int64_t aligned_rows(std::int64_t rows) { return (rows + 3) / 4 * 4; }

/// scales [rows, k_blocks], as gemm() takes them, to the layout that a tensor map (TMA) can read:
/// aligned [k_blocks, aligned_rows(rows)], zero in the rows added.
void align_scales(std::int64_t rows, std::int64_t k_blocks, std::span<const float> scales,
                  std::span<float> aligned);
/// The inverse; what the rows added hold is not read.
void unalign_scales(std::int64_t rows, std::int64_t k_blocks, std::span<const float> aligned,
                    std::span<float> scales);

/// wgmma.mma_async.m64nNk32.f32.e4m3.e4m3, or a chain of k/32 of them: d [64,n] = a [64,k] b [n,k]^T + c.
/// n: a multiple of 8 from 8 to 256; k: a multiple of 32; c [64,n], or empty for scale-d false.
void wgmma(std::int64_t n, std::int64_t k, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
           std::span<const float> c, std::span<float> d);

/// x [rows, columns] to E4M3 codes [rows, columns] and scales [ceil(rows/block_rows), ceil(columns/128)].
/// block_rows: 1 or 128. recipe: a name of docs/numerics.md ("deepgemm", "vllm", ...). ue8m0: power-of-two scales.
void quantize(std::int64_t rows, std::int64_t columns, std::span<const float> x, std::int64_t block_rows,
              std::string_view recipe, bool ue8m0, std::span<std::uint8_t> codes, std::span<float> scales);

}  // namespace fp8twin
