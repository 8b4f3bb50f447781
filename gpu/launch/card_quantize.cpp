#include "gpu/launch/card_quantize.hpp"

#include "gpu/jit/quantize_sources.hpp"
#include "gpu/launch/quantize_plan.hpp"

namespace fp8twin {

void launch_quantize(KernelCache& kernels, const Recipe& recipe, ScaleFormat format, const BlockGrid& grid,
                     InputFormat input, const void* x, u8* codes, float* scales) {
  const std::vector<QuantizeLaunch> launches = quantize_launches(grid, input, x, codes, scales);
  if (launches.empty()) return;
  const jit::Source source = jit::quantize_source(recipe, format, grid.shape.rows, input);
  const Kernel kernel = kernels.get(source, source.name);
  for (const QuantizeLaunch& launch : launches) {
    kernel.launch({launch.grid_x, launch.grid_y}, quantize_threads, quantize_shared_bytes, launch.arguments);
  }
}

void launch_scale_layout(KernelCache& kernels, i64 rows, i64 k_blocks, const float* from, float* to) {
  if (rows == 0 || k_blocks == 0) return;
  const ScaleLayoutLaunch launch = scale_layout_launch(rows, k_blocks, from, to);
  const jit::Source source = jit::scale_layout_source();
  kernels.get(source, source.name)
      .launch({launch.grid_x, launch.grid_y}, scale_layout_threads, scale_layout_shared_bytes,
              launch.arguments);
}

void quantize_on_card(KernelCache& kernels, const Recipe& recipe, ScaleFormat format, const BlockGrid& grid,
                      const Values& x, std::span<std::uint8_t> codes, std::span<float> scales) {
  need_quantize_sizes(grid, x, codes.size(), scales.size());
  if (grid.elements() == 0) return;
  const auto input = std::visit([](auto values) { return std::as_bytes(values); }, x);
  const Buffer<std::byte> device_x(input);
  Buffer<u8> device_codes(codes.size());
  Buffer<float> device_scales(scales.size());
  device_codes.fill(0xff);  // NaN: an element never written is seen
  device_scales.fill(0xff);
  launch_quantize(kernels, recipe, format, grid, input_format(x), device_x.device(), device_codes.device(),
                  device_scales.device());
  device_codes.download(codes);
  device_scales.download(scales);
}

std::vector<float> transpose_scales_on_card(KernelCache& kernels, i64 rows, i64 k_blocks,
                                            std::span<const float> a_scale) {
  need_scales(rows, k_blocks, a_scale.size());
  std::vector<float> transposed(static_cast<u64>(k_blocks) * scale_layout_stride(rows));
  if (a_scale.empty()) return transposed;
  const Buffer<float> from(a_scale);
  Buffer<float> to(transposed.size());
  to.fill(0xff);
  launch_scale_layout(kernels, rows, k_blocks, from.device(), to.device());
  return to.download();
}

}  // namespace fp8twin
