// The kernels quantize and scale_layout on the emulated machine: the bits of emulator/number for every recipe, scale format,
// block shape and type of x, over every kind of block; the scales in the layout that arranged_scales() makes on the host.
#include "gpu/kernels/quantize.hpp"

#include <cmath>

#include "gpu/capture/quantize_cases.hpp"
#include "gpu/kernels/scale_layout.hpp"
#include "gpu/launch/gemm_data.hpp"
#include "gpu/launch/machine_quantize.hpp"
#include "gpu/launch/quantize_plan.hpp"
#include "tests/catch.hpp"

using namespace fp8twin;
using capture::Quantized;
using capture::QuantizeInput;

namespace {

Quantized on_machine(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x,
                     machine::LaunchOptions options = {}) {
  Quantized result(grid);
  quantize_on_machine(recipe, format, grid, x, result.codes, result.scales, options);
  return result;
}

Quantized by_arithmetic(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const Values& x) {
  Quantized result(grid);
  quantize(recipe, format, grid, x, result.codes, result.scales);
  return result;
}

void check(const Recipe& recipe, ScaleFormat format, const BlockGrid& grid, const QuantizeInput& x) {
  INFO(quantize_name(recipe, format, grid.shape.rows, x.format)
       << " " << grid.experts << " x " << grid.rows << " x " << grid.columns);
  const Quantized needed = by_arithmetic(recipe, format, grid, x.values());
  const Quantized found = on_machine(recipe, format, grid, x.values());
  CHECK(found.codes_differing(needed) == 0);
  CHECK(found.scales_differing(needed) == 0);
}

/// Every recipe, in both formats of scales.
void check_recipes(const BlockGrid& grid, InputFormat input, std::uint64_t seed) {
  const QuantizeInput x(input, grid, seed);
  for (const Recipe& recipe : all_recipes()) {
    for (const ScaleFormat format : capture::scale_formats) check(recipe, format, grid, x);
  }
}

}  // namespace

TEST_CASE("1x128: every recipe, scale format and type of x, over every kind of block") {
  for (const InputFormat input : capture::input_formats) {
    check_recipes(BlockGrid(1, 19, 640, block_1x128), input, 1);
    check_recipes(BlockGrid(3, 5, 333, block_1x128), input,
                  2);  // rows begin anywhere, the last block is partial
  }
}

TEST_CASE("128x128: every recipe, scale format and type of x, over every kind of block") {
  for (const InputFormat input : capture::input_formats) {
    check_recipes(BlockGrid(1, 256, 896, block_128x128), input, 3);
    check_recipes(BlockGrid(3, 131, 201, block_128x128), input, 4);
  }
}

TEST_CASE("shapes: partial blocks in every direction, experts, rows of any alignment") {
  const Recipe& recipe = recipe_from_name("deepgemm");
  std::uint64_t seed = 100;
  for (const BlockShape shape : capture::block_shapes) {
    for (const std::int64_t rows : {1, 2, 8, 9, 127, 128, 130}) {
      for (const std::int64_t columns : {1, 3, 4, 127, 128, 129, 132, 512, 516, 1030}) {
        if (shape == block_128x128 && rows * columns > 70000) continue;
        const BlockGrid grid(1 + seed % 2, rows, columns, shape);
        const InputFormat input = capture::input_formats[seed % 3];
        check(recipe, capture::scale_formats[seed / 2 % 2], grid, QuantizeInput(input, grid, seed));
        ++seed;
      }
    }
  }
}

TEST_CASE("blocks start anew with each group along K") {
  const std::vector<std::int32_t> sizes = {100, 0, 128, 300, 256, 1, 127};
  for (const BlockShape shape : capture::block_shapes) {
    const BlockGrid grid(1, 140, 912, shape, sizes);
    const QuantizeInput x(InputFormat::bf16, grid, 7);
    for (const char* name : {"vllm", "te"}) check(recipe_from_name(name), ScaleFormat::f32, grid, x);
    Quantized room(grid);
    // 100, then 128 + 300, 256 + 1, 127: whole blocks run on into the next group.
    CHECK(quantize_launches(grid, x.format, x.bf16.data(), room.codes.data(), room.scales.data()).size() ==
          4);
  }
}

TEST_CASE("an array that begins at an odd element") {
  const BlockGrid wide(1, 9, 260, block_1x128), grid(1, 9, 256, block_1x128);
  const QuantizeInput x(InputFormat::bf16, wide, 8);
  const Values odd = std::span<const BF16>(x.bf16).subspan(1, 9 * 256);
  const Recipe& recipe = recipe_from_name("sglang");
  const Quantized found = on_machine(recipe, ScaleFormat::f32, grid, odd);
  CHECK(found.codes == by_arithmetic(recipe, ScaleFormat::f32, grid, odd).codes);
  CHECK(found.scales_differing(by_arithmetic(recipe, ScaleFormat::f32, grid, odd)) == 0);
}

TEST_CASE("every schedule gives the same bits, and no bank of shared memory is asked twice") {
  using machine::Schedule;
  const BlockGrid grid(2, 130, 260, block_128x128);
  const QuantizeInput x(InputFormat::f32, grid, 9);
  const Recipe& recipe = recipe_from_name("deepseek");
  const Quantized needed = by_arithmetic(recipe, ScaleFormat::ue8m0, grid, x.values());
  for (const Schedule schedule : {Schedule::earliest, Schedule::latest, Schedule::mixed, Schedule::random}) {
    Quantized found(grid);
    const auto notes = quantize_on_machine(recipe, ScaleFormat::ue8m0, grid, x.values(), found.codes,
                                           found.scales, {.schedule = schedule, .seed = 5});
    CHECK(found.codes == needed.codes);
    CHECK(found.scales_differing(needed) == 0);
    for (const machine::BankNote& note : notes) CHECK(note.extra_wavefronts == 0);
  }
}

TEST_CASE("a grid that is shorter than the array: each thread block goes on to the next blocks of columns") {
  const BlockGrid wide(1, 20, 128 * 11 + 5, block_1x128), tall(2, 140, 128 * 5 + 9, block_128x128);
  for (const BlockGrid& grid : {wide, tall}) {
    const QuantizeInput x(InputFormat::bf16, grid, 10);
    const Recipe& recipe = recipe_from_name("deepgemm-cpu");
    const MachineQuantizeConfig config =
        quantize_config(recipe, ScaleFormat::f32, grid.shape.rows, InputFormat::bf16);
    const Quantized needed = by_arithmetic(recipe, ScaleFormat::f32, grid, x.values());
    for (const u32 grid_y : {1, 2}) {
      Quantized found(grid);
      const QuantizeLaunch launch = quantize_launches(grid, InputFormat::bf16, x.bf16.data(),
                                                      found.codes.data(), found.scales.data())[0];
      const auto kernel = [&](const QuantizeArguments& q) { quantize_blocks(config, q); };
      machine::launch({launch.grid_x, grid_y}, {1, 1}, quantize_threads, quantize_shared_bytes, kernel,
                      launch.arguments, {.schedule = machine::Schedule::random, .seed = grid_y});
      CHECK(found.codes == needed.codes);
      CHECK(found.scales_differing(needed) == 0);
    }
  }
  std::vector<float> scales(40 * 100);
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<float>(i);
  std::vector<float> found(100 * 40);
  const ScaleLayoutLaunch launch = scale_layout_launch(40, 100, scales.data(), found.data());
  machine::launch(
      {launch.grid_x, 1}, {1, 1}, scale_layout_threads, scale_layout_shared_bytes,
      [](const ScaleLayoutArguments& s) { transpose_scales(ScaleLayoutConfig{}, s); }, launch.arguments);
  CHECK(found == transpose_scales_on_machine(40, 100, scales).scales);
}

TEST_CASE("ceil of log2 as integer work: the fractions that log2 loses, beside every power of two") {
  const auto by_log2 = [](float s) {
    return std::ceil(static_cast<float>(std::log2(static_cast<double>(s))));
  };
  const auto check_bits = [&](u32 bits) {
    const float s = f32_from_bits(bits);
    // An exponent of 128 is infinity.
    const u32 needed = static_cast<u32>(static_cast<int>(by_log2(s)) + 127) << 23;
    if (ceil_power_by_log2_bits(bits) != needed) {
      INFO(bits);
      CHECK(ceil_power_by_log2_bits(bits) == needed);
    }
  };
  for (u32 field = 1; field < 255; ++field) {
    for (u32 fraction = 0; fraction < 2000; ++fraction) {
      check_bits(field << 23 | fraction);
      check_bits(field << 23 | (0x7fffff - fraction));
    }
  }
  u32 state = 3;
  for (u32 i = 0; i < 2000000; ++i) {
    state = state * 1664525 + 1013904223;
    const u32 bits = state >> 1;
    if (bits >= 1u << 23 && bits < f32_infinity_bits) check_bits(bits);
  }
  CHECK(ceil_power_by_log2_bits(f32_infinity_bits) == f32_infinity_bits);
  // The largest fraction that is lost, by size of the exponent: floor(ln 2 * 2^(j-1)).
  for (i32 j = 0; j < 7; ++j) {
    CHECK(fraction_lost_by_log2(1 << j) == static_cast<u32>(std::log(2.0) * std::ldexp(1.0, j - 1)));
    CHECK(fraction_lost_by_log2(-(1 << j) - 1) == fraction_lost_by_log2(1 << j));
  }
}

TEST_CASE("empty arrays launch nothing, and wrong sizes are refused") {
  for (const BlockShape shape : capture::block_shapes) {
    for (const BlockGrid& grid :
         {BlockGrid(1, 0, 256, shape), BlockGrid(0, 5, 128, shape), BlockGrid(2, 3, 0, shape)}) {
      CHECK(quantize_launches(grid, InputFormat::f32, nullptr, nullptr, nullptr).empty());
    }
  }
  const BlockGrid grid(1, 2, 128, block_1x128);
  std::vector<float> x(256), scales(2);
  std::vector<u8> codes(256);
  const Recipe& recipe = recipe_from_name("te");
  const auto run = [&](std::span<const float> in, std::span<u8> out, std::span<float> s) {
    quantize_on_machine(recipe, ScaleFormat::f32, grid, in, out, s);
  };
  CHECK_THROWS_WITH(run(std::span(x).first(255), codes, scales),
                    "quantize: x: 255 elements were given, the block grid needs 256");
  CHECK_THROWS_WITH(run(x, std::span(codes).first(1), scales),
                    "quantize: codes: 1 elements were given, the block grid needs 256");
  CHECK_THROWS_WITH(run(x, codes, std::span(scales).first(0)),
                    "quantize: scales: 0 elements were given, the block grid needs 2");
  CHECK_THROWS_AS(
      quantize_launches(BlockGrid(1, 2, 128, {1, 64}), InputFormat::f32, x.data(), nullptr, nullptr), Error);
  CHECK_THROWS_WITH(quantize_launches(BlockGrid(1, i64{1} << 31, 1, block_1x128), InputFormat::bf16, nullptr,
                                      nullptr, nullptr),
                    "quantize: 2147483648 rows; the kernel counts to 2147483647, engine model further");
}

TEST_CASE("scales transposed for TMA: the host's layout, padding zero, no bank asked twice") {
  for (const i64 rows : {1, 3, 4, 31, 32, 33, 70, 128, 257}) {
    for (const i64 k : {1, 128, 129, 4096, 4224, 130 * 128}) {
      const LaunchPlan plan = plan_gemm(rows, 16, k, default_config(8, rows, 16, k, false, 132), 132);
      REQUIRE(plan.config.loads_scales_by_tma());
      if (plan.config.swapped()) continue;
      const u64 k_blocks = plan.k_blocks();
      REQUIRE(plan.a_scale_stride == scale_layout_stride(rows));
      std::vector<float> scales(static_cast<u64>(rows) * k_blocks);
      for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<float>(i + 1);
      if (scales.size() > 2) scales[2] = f32_from_bits(0xffc12345);  // a NaN's bits come through
      const std::vector<float> needed = arranged_scales(plan, scales);
      const TransposedScales found = transpose_scales_on_machine(rows, static_cast<i64>(k_blocks), scales,
                                                                 {.seed = static_cast<u64>(k)});
      INFO(rows << " rows, K " << k);
      REQUIRE(found.scales.size() == needed.size());
      std::size_t different = 0;
      for (std::size_t i = 0; i < needed.size(); ++i) {
        different += f32_bits(found.scales[i]) != f32_bits(needed[i]);
      }
      CHECK(different == 0);
      for (const machine::BankNote& note : found.bank_notes) CHECK(note.extra_wavefronts == 0);
    }
  }
  CHECK(transpose_scales_on_machine(0, 5, {}).scales == std::vector<float>(5 * 4));
  CHECK(transpose_scales_on_machine(7, 0, {}).scales.empty());
  CHECK_THROWS_AS(transpose_scales_on_machine(2, 2, std::vector<float>(3)), Error);
}
