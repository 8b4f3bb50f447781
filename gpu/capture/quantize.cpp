// quantize: the kernels quantize and scale_layout on the card, in every configuration, against the CPU's bits.
#include <fmt/format.h>

#include <array>

#include "gpu/capture/capture.hpp"
#include "gpu/capture/quantize_cases.hpp"
#include "gpu/jit/quantize_sources.hpp"
#include "gpu/launch/card_quantize.hpp"
#include "gpu/launch/quantize_plan.hpp"

namespace fp8twin::capture {
namespace {

constexpr std::size_t most_listed = 16;

struct Tally {
  std::int64_t codes = 0, codes_different = 0, scales = 0, scales_different = 0;
  void add(const Tally& other) {
    codes += other.codes;
    codes_different += other.codes_different;
    scales += other.scales;
    scales_different += other.scales_different;
  }
  Json json() const {
    return {{"codes", codes},
            {"codes_different", codes_different},
            {"scales", scales},
            {"scales_different", scales_different}};
  }
  std::int64_t different() const { return codes_different + scales_different; }
};

/// Whole blocks, partial ones in every direction, experts, groups along K; and as many amax as there is room for: blocks
/// of one element.
std::vector<BlockGrid> grids_of(BlockShape shape) {
  const std::vector<std::int32_t> groups = {100, 0, 128, 300, 256, 1, 127};
  if (shape == block_1x128) {
    return {BlockGrid(1, 512, 4096, shape), BlockGrid(3, 77, 1111, shape), BlockGrid(1, 1 << 18, 1, shape),
            BlockGrid(1, 100, 912, shape, groups)};
  }
  return {BlockGrid(1, 2048, 2048, shape), BlockGrid(3, 333, 1001, shape), BlockGrid(1 << 16, 1, 1, shape),
          BlockGrid(2, 200, 912, shape, groups)};
}

void list_differences(Json& listed, const std::string& name, const Quantized& card, const Quantized& cpu) {
  for (std::size_t i = 0; i < cpu.scales.size() && listed.size() < most_listed; ++i) {
    if (f32_bits(card.scales[i]) == f32_bits(cpu.scales[i])) continue;
    listed.push_back({{"kernel", name},
                      {"scale", i},
                      {"card", hex(f32_bits(card.scales[i]), 8)},
                      {"cpu", hex(f32_bits(cpu.scales[i]), 8)}});
  }
  for (std::size_t i = 0; i < cpu.codes.size() && listed.size() < most_listed; ++i) {
    if (card.codes[i] == cpu.codes[i]) continue;
    listed.push_back(
        {{"kernel", name}, {"code", i}, {"card", hex(card.codes[i], 2)}, {"cpu", hex(cpu.codes[i], 2)}});
  }
}

Tally compare_one(Session& session, const Recipe& recipe, ScaleFormat format, const BlockGrid& grid,
                  const QuantizeInput& x, Json& listed) {
  Quantized card(grid), cpu(grid);
  quantize_on_card(session.kernels, recipe, format, grid, x.values(), card.codes, card.scales);
  quantize(recipe, format, grid, x.values(), cpu.codes, cpu.scales, session.threads);
  const Tally tally{grid.elements(), static_cast<std::int64_t>(card.codes_differing(cpu)), grid.scales(),
                    static_cast<std::int64_t>(card.scales_differing(cpu))};
  if (tally.different()) {
    list_differences(listed, quantize_name(recipe, format, grid.shape.rows, x.format), card, cpu);
  }
  return tally;
}

/// The scales' layout: any bits, moved. Returns how many words are elsewhere or changed.
Tally compare_scale_layout(Session& session) {
  Tally tally;
  const Random random(session.seed, 7);
  for (const i64 rows : {1, 5, 31, 32, 257, 4096, 5003}) {
    for (const i64 k_blocks : {1, 7, 32, 56, 129}) {
      std::vector<float> scales(static_cast<std::size_t>(rows * k_blocks));
      for (std::size_t i = 0; i < scales.size(); ++i) {
        scales[i] = f32_from_bits(static_cast<std::uint32_t>(random.bits(i)));
      }
      const std::vector<float> moved = transpose_scales_on_card(session.kernels, rows, k_blocks, scales);
      const u64 stride = scale_layout_stride(rows);
      for (std::size_t i = 0; i < moved.size(); ++i) {
        const std::size_t row = i % stride, block = i / stride;
        const float needed = row < static_cast<std::size_t>(rows)
                                 ? scales[row * static_cast<std::size_t>(k_blocks) + block]
                                 : 0.0f;
        tally.scales_different += f32_bits(moved[i]) != f32_bits(needed);
      }
      tally.scales += static_cast<std::int64_t>(moved.size());
    }
  }
  return tally;
}

/// How long the kernels take on arrays of a model's size, by events: the best of several, the gap of a launch included.
Json measure(Session& session) {
  Json times = Json::array();
  constexpr i64 rows = 16384, columns = 7168;
  Buffer<std::uint16_t> x(static_cast<std::size_t>(rows * columns));
  Buffer<u8> codes(x.size());
  x.fill(0x3c);
  for (const BlockShape shape : block_shapes) {
    const BlockGrid grid(1, rows, columns, shape);
    Buffer<float> scales(static_cast<std::size_t>(grid.scales()));
    for (const char* name : {"deepgemm", "vllm", "te"}) {
      const Recipe& recipe = recipe_from_name(name);
      double best = 1e30;
      for (int i = 0; i < 10; ++i) {
        const Event before, after;
        x.fill(0x3c);  // as a layer would: written just before, and larger than L2
        before.record();
        launch_quantize(session.kernels, recipe, ScaleFormat::f32, grid, InputFormat::bf16, x.device(),
                        codes.device(), scales.device());
        after.record();
        session.device().synchronize();
        best = std::min(best, after.microseconds_since(before));
      }
      const double gigabytes = static_cast<double>(3 * x.size() + 4 * scales.size()) / best / 1e3;
      const std::string kernel = quantize_name(recipe, ScaleFormat::f32, shape.rows, InputFormat::bf16);
      fmt::print("  {:<40} {} x {}: {:.1f} us, {:.0f} GB/s\n", kernel, rows, columns, best, gigabytes);
      times.push_back({{"kernel", kernel},
                       {"rows", rows},
                       {"columns", columns},
                       {"microseconds", best},
                       {"gigabytes_per_second", gigabytes}});
    }
  }
  return times;
}

}  // namespace

int check_quantize(Session& session, int rounds, bool time) {
  const Device& device = session.device();
  Json answer = provenance(session, device);
  std::vector<jit::Source> sources = {jit::scale_layout_source()};
  for (const Recipe& recipe : all_recipes()) {
    for (const ScaleFormat format : scale_formats) {
      for (const BlockShape shape : block_shapes) {
        for (const InputFormat input : input_formats) {
          sources.push_back(jit::quantize_source(recipe, format, shape.rows, input));
        }
      }
    }
  }
  session.kernels.prepare(sources, session.threads);

  Tally all;
  Json cases = Json::array(), listed = Json::array();
  for (const BlockShape shape : block_shapes) {
    for (const InputFormat input : input_formats) {
      std::vector<Tally> tallies(2 * all_recipes().size());
      for (int round = 0; round < rounds; ++round) {
        for (const BlockGrid& grid : grids_of(shape)) {
          const QuantizeInput x(input, grid, session.seed + static_cast<std::uint64_t>(round));
          std::size_t at = 0;
          for (const Recipe& recipe : all_recipes()) {
            for (const ScaleFormat format : scale_formats) {
              tallies[at++].add(compare_one(session, recipe, format, grid, x, listed));
            }
          }
        }
      }
      std::size_t at = 0;
      for (const Recipe& recipe : all_recipes()) {
        for (const ScaleFormat format : scale_formats) {
          const Tally& tally = tallies[at++];
          Json one{{"kernel", quantize_name(recipe, format, shape.rows, input)}};
          one.update(tally.json());
          cases.push_back(one);
          if (tally.different()) fmt::print("  differs: {}\n", one.dump());
          all.add(tally);
        }
      }
    }
  }
  const Tally layout = compare_scale_layout(session);
  answer["kernels_compared"] = cases.size();
  answer.update(all.json());
  answer["cases"] = cases;
  answer["scale_layout"] = {{"words", layout.scales}, {"words_different", layout.scales_different}};
  answer["listed"] = listed;
  for (const Json& one : listed) fmt::print("  {}\n", one.dump());
  fmt::print(
      "{}, driver {}: {} kernels of quantize, {} codes, {} differ, {} scales, {} differ; {} transposed "
      "scales, {} "
      "differ\n",
      device.name(), device.driver_version(), cases.size(), all.codes, all.codes_different, all.scales,
      all.scales_different, layout.scales, layout.scales_different);
  if (time) answer["times"] = measure(session);
  if (!session.record_path.empty()) write_json(session.record_path, answer);
  return all.different() || layout.different() ? 1 : 0;
}

}  // namespace fp8twin::capture
