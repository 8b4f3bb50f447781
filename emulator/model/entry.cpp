// fp8twin/model.hpp: spans in, checked, then the same engine that the program uses.
#include "fp8twin/model.hpp"

#include <fmt/core.h>

#include "emulator/model/entry_checks.hpp"
#include "emulator/model/gemm.hpp"
#include "emulator/number/quantize.hpp"
#include "emulator/number/scale_block.hpp"

namespace fp8twin {
namespace {

template <class T>
void run(std::int64_t m, std::int64_t n, std::int64_t k, std::span<const std::uint8_t> a,
         std::span<const float> a_scale, std::span<const std::uint8_t> b, std::span<const float> b_scale,
         std::span<T> d, const ModelOptions& options, std::span<const float> c) {
  need_extent("m", m), need_extent("n", n), need_extent("k", k);
  need_size("a", a.size(), m, k);
  need_size("b", b.size(), n, k);
  gemm_k_major({a.data(), m, k, k}, a_scale, {b.data(), n, k, k}, b_scale, d, options, c);
}

}  // namespace

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::span<const std::uint8_t> a,
          std::span<const float> a_scale, std::span<const std::uint8_t> b, std::span<const float> b_scale,
          std::span<float> d, const ModelOptions& options, std::span<const float> c) {
  run(m, n, k, a, a_scale, b, b_scale, d, options, c);
}

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::span<const std::uint8_t> a,
          std::span<const float> a_scale, std::span<const std::uint8_t> b, std::span<const float> b_scale,
          std::span<std::uint16_t> d, const ModelOptions& options, std::span<const float> c) {
  run(m, n, k, a, a_scale, b, b_scale, d, options, c);
}

void wgmma(std::int64_t n, std::int64_t k, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
           std::span<const float> c, std::span<float> d) {
  if (n < 8 || n > 256 || n % 8)
    throw Error(fmt::format("n is {}; needed is a multiple of 8 from 8 to 256", n));
  need_extent("k", k);
  if (k % 32) throw Error(fmt::format("k is {}; needed is a multiple of 32", k));
  need_size("a", a.size(), 64, k);
  need_size("b", b.size(), n, k);
  need_size("d", d.size(), 64, n);
  if (!c.empty()) need_size("c", c.size(), 64, n);
  const GemmSlice slice{.a = a.data(),
                        .lda = k,
                        .b = b.data(),
                        .ldb = k,
                        .a_scale = nullptr,
                        .a_scale_stride = 0,
                        .b_scale = nullptr,
                        .b_scale_stride = 0,
                        .b_scale_rows = 128,
                        .c = c.empty() ? nullptr : c.data(),
                        .m = 64,
                        .n = n,
                        .k = k,
                        .d_offset = 0};
  gemm_slice(slice, DType::f32, std::as_writable_bytes(d).data(), n, {.threads = 1});
}

void quantize(std::int64_t rows, std::int64_t columns, std::span<const float> x, std::int64_t block_rows,
              std::string_view recipe, bool ue8m0, std::span<std::uint8_t> codes, std::span<float> scales) {
  need_extent("rows", rows), need_extent("columns", columns);
  if (block_rows != 1 && block_rows != 128) {
    throw Error(fmt::format("block_rows is {}; needed is 1 or 128", block_rows));
  }
  need_size("x", x.size(), rows, columns);
  need_size("codes", codes.size(), rows, columns);
  need_size("scales", scales.size(), (rows + block_rows - 1) / block_rows, scale_blocks(columns));
  const BlockGrid grid(1, rows, columns, block_rows == 1 ? block_1x128 : block_128x128);
  quantize(recipe_from_name(recipe), ue8m0 ? ScaleFormat::ue8m0 : ScaleFormat::f32, grid, Values{x}, codes,
           scales);
}

}  // namespace fp8twin
