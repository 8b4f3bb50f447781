// On a machine with an H100 or H200: the kernels quantize and scale_layout against the CPU's bits. Elsewhere: skipped.
#include "gpu/capture/quantize_cases.hpp"
#include "gpu/launch/card_quantize.hpp"
#include "gpu/launch/machine_quantize.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/have_gpu.hpp"

using namespace fp8twin;
using capture::Quantized;

TEST_CASE("quantisation on the card: the CPU's codes and scales, for every recipe") {
  if (!test::have_gpu()) return;
  const Device device;
  KernelCache kernels;
  std::uint64_t seed = 0;
  for (const BlockShape shape : capture::block_shapes) {
    for (const InputFormat input : capture::input_formats) {
      for (const BlockGrid& grid : {BlockGrid(1, 384, 512, shape), BlockGrid(3, 131, 333, shape),
                                    BlockGrid(1, 100, 300, shape, std::vector<std::int32_t>{130, 0, 170})}) {
        const capture::QuantizeInput x(input, grid, ++seed);
        for (const Recipe& recipe : all_recipes()) {
          for (const ScaleFormat format : capture::scale_formats) {
            INFO(recipe.name << " " << scale_format_name(format) << " rows " << shape.rows << " seed "
                             << seed);
            Quantized found(grid), needed(grid);
            quantize_on_card(kernels, recipe, format, grid, x.values(), found.codes, found.scales);
            quantize(recipe, format, grid, x.values(), needed.codes, needed.scales);
            CHECK(found.codes_differing(needed) == 0);
            CHECK(found.scales_differing(needed) == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("scales transposed on the card as on the machine") {
  if (!test::have_gpu()) return;
  const Device device;
  KernelCache kernels;
  for (const i64 rows : {1, 33, 70, 257}) {
    for (const i64 k_blocks : {1, 56, 130}) {
      std::vector<float> scales(static_cast<std::size_t>(rows * k_blocks));
      for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<float>(i + 1);
      CHECK(transpose_scales_on_card(kernels, rows, k_blocks, scales) ==
            transpose_scales_on_machine(rows, k_blocks, scales).scales);
    }
  }
}
