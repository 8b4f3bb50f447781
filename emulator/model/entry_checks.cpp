#include "emulator/model/entry_checks.hpp"

#include <fmt/core.h>

#include "emulator/model/gemm.hpp"
#include "emulator/number/scale_block.hpp"

namespace fp8twin {
namespace {

template <class T>
void run(const KMajorCodes& a, std::span<const float> a_scale, const KMajorCodes& b,
         std::span<const float> b_scale, std::span<T> d, DType output, const ModelOptions& options,
         std::span<const float> c) {
  const std::int64_t m = a.rows, n = b.rows, k = a.k;
  if (options.b_rows != 1 && options.b_rows != 128) {
    throw Error(fmt::format("b_rows is {}; needed is 128 (1D2D) or 1 (1D1D)", options.b_rows));
  }
  const std::int64_t scale_rows = options.b_rows == 1 ? n : scale_blocks(n);
  need_size("a_scale", a_scale.size(), m, scale_blocks(k));
  need_size("b_scale", b_scale.size(), scale_rows, scale_blocks(k));
  need_size("d", d.size(), m, n);
  if (!c.empty()) need_size("c", c.size(), m, n);
  if (d.empty()) return;

  const GemmSlice slice{.a = a.data,
                        .lda = a.stride,
                        .b = b.data,
                        .ldb = b.stride,
                        .a_scale = k ? a_scale.data() : &no_scales,
                        .a_scale_stride = scale_blocks(k),
                        .b_scale = k ? b_scale.data() : &no_scales,
                        .b_scale_stride = scale_blocks(k),
                        .b_scale_rows = options.b_rows,
                        .c = c.empty() ? nullptr : c.data(),
                        .m = m,
                        .n = n,
                        .k = k,
                        .d_offset = 0};
  const GemmOptions engine{.threads = options.threads,
                           .promote = options.promote,
                           .core = with_fraction_bits(options.fraction_bits)};
  gemm_slice(slice, output, std::as_writable_bytes(d).data(), n, engine);
}

}  // namespace

void need_size(std::string_view name, std::size_t found, std::int64_t rows, std::int64_t columns) {
  if (found != static_cast<std::size_t>(rows * columns)) {
    throw Error(fmt::format("span '{}' has {} elements; needed are {} x {}", name, found, rows, columns));
  }
}

void need_extent(std::string_view name, std::int64_t extent) {
  if (extent < 0 || extent > 0x7fffffff) {
    throw Error(fmt::format("extent {} is {}; needed is 0 to 2^31 - 1", name, extent));
  }
}

void gemm_k_major(const KMajorCodes& a, std::span<const float> a_scale, const KMajorCodes& b,
                  std::span<const float> b_scale, std::span<float> d, const ModelOptions& options,
                  std::span<const float> c) {
  run(a, a_scale, b, b_scale, d, DType::f32, options, c);
}

void gemm_k_major(const KMajorCodes& a, std::span<const float> a_scale, const KMajorCodes& b,
                  std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options,
                  std::span<const float> c) {
  run(a, a_scale, b, b_scale, d, DType::bf16, options, c);
}

}  // namespace fp8twin
