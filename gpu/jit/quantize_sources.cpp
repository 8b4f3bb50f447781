#include "gpu/jit/quantize_sources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/launch/quantize_plan.hpp"

namespace fp8twin::jit {
namespace {

constexpr const char* header = "gpu/kernels/quantize.hpp";

std::string members(const MachineQuantizeConfig& config) {
  return fmt::format(
      "static constexpr u32 block_rows = {}, amax_floor = {:#x}, power_floor = {:#x}, largest_code = {:#x}, "
      "nan_code = {:#x}; static constexpr bool ignore_nan = {}; static constexpr InputFormat input{{{}}}; "
      "static constexpr ScaleFormula scale{{{}}}; static constexpr QuotientFormula quotient{{{}}}; "
      "static constexpr PowerFormula power{{{}}};",
      config.block_rows, config.amax_floor, config.power_floor, config.largest_code, config.nan_code,
      config.ignore_nan, static_cast<u32>(config.input), static_cast<u32>(config.scale),
      static_cast<u32>(config.quotient), static_cast<u32>(config.power));
}

Entry entry(const Recipe& recipe, ScaleFormat format, std::int64_t block_rows, InputFormat input) {
  return {quantize_name(recipe, format, block_rows, input), "quantize_blocks", "QuantizeArguments",
          members(quantize_config(recipe, format, block_rows, input)), quantize_threads};
}

}  // namespace

Source quantize_source(const Recipe& recipe, ScaleFormat format, std::int64_t block_rows, InputFormat input) {
  const Entry one = entry(recipe, format, block_rows, input);
  return source_of(one.name, header, {}, {one});
}

std::vector<Source> quantize_sources() {
  std::vector<Source> sources;
  for (const Recipe& recipe : all_recipes()) {
    for (const InputFormat input : {InputFormat::bf16, InputFormat::f16, InputFormat::f32}) {
      std::vector<Entry> entries;
      for (const ScaleFormat format : {ScaleFormat::f32, ScaleFormat::ue8m0}) {
        for (const std::int64_t block_rows : {1, 128}) {
          entries.push_back(entry(recipe, format, block_rows, input));
        }
      }
      sources.push_back(source_of(fmt::format("quantize_{}_{}", recipe.name, input_format_name(input)),
                                  header, {}, entries));
    }
  }
  return sources;
}

Source scale_layout_source() {
  return source_of("scale_layout", "gpu/kernels/scale_layout.hpp", {},
                   {{"scale_layout", "transpose_scales", "ScaleLayoutArguments", "", scale_layout_threads}});
}

}  // namespace fp8twin::jit
