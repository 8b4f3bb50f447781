#include "emulator/cli/recipe_match.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "emulator/files/quote.hpp"
#include "emulator/number/e4m3.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin::cli {
namespace {

/// A tensor to quantise and what FILE holds under its name.
struct Target {
  QuantizeItem item;
  std::span<const std::uint8_t> codes;
  std::vector<float> scales;
};

struct Count {
  const Recipe* recipe;
  ScaleFormat format;
  std::int64_t codes = 0, scales = 0;
  Json tensors = Json::array();
};

Target target_of(const TensorFile& file, const QuantizeItem& item, const Tensor& codes, bool fixed_blocks) {
  const Tensor& wanted = *item.tensor;
  if (codes.shape != wanted.shape) {
    throw Error(fmt::format("{}: tensor {} has shape {}; needed is {}, its shape before quantisation",
                            file.path, quote(codes.name), shape_text(codes.shape), shape_text(wanted.shape)));
  }
  const Tensor* scale = find_scale(file, codes);
  if (!scale) {
    throw Error(fmt::format("{}: tensor {} has no scales; needed is {} or {}", file.path, quote(codes.name),
                            quote(codes.name + "_scale"), quote(codes.name + "_scale_inv")));
  }
  Target target{item, codes.as<std::uint8_t>(), scale_values(file.path, *scale)};
  if (!fixed_blocks) target.item.grid = grid_of_scales(file, codes, *scale);
  const Shape needed = scale_shape(wanted.shape, target.item.grid);
  if (fixed_blocks && scale->shape != needed) {
    throw Error(fmt::format("{}: tensor {} has shape {}; blocks of {} need {}", file.path, quote(scale->name),
                            shape_text(scale->shape), item.block, shape_text(needed)));
  }
  if (target.codes.empty()) target.scales.clear();  // no block, whatever the file's scales are
  return target;
}

std::vector<Target> targets_of(const TensorFile& file, const QuantizePlan& plan, bool fixed_blocks) {
  std::vector<Target> targets;
  for (const QuantizeItem& item : plan.items) {
    const Tensor* codes = item.named ? &file.at(item.tensor->name) : file.find(item.tensor->name);
    if (codes && codes->dtype == DType::f8_e4m3) {
      targets.push_back(target_of(file, item, *codes, fixed_blocks));
    } else if (item.named) {
      throw Error(fmt::format("{}: tensor {} is {}; needed is F8_E4M3", file.path, quote(codes->name),
                              dtype_name(codes->dtype)));
    }
  }
  if (targets.empty()) {
    throw Error(fmt::format("{}: holds no F8_E4M3 tensor with the name of a tensor to quantise in {}",
                            file.path, plan.file->path));
  }
  return targets;
}

/// How many codes differ; two NaNs, whatever their signs, do not.
std::int64_t differing_codes(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, int threads) {
  constexpr std::size_t piece = 1 << 18;
  std::atomic<std::int64_t> sum{0};
  parallel_for(static_cast<std::int64_t>((a.size() + piece - 1) / piece), threads,
               [&](std::int64_t index, int) {
                 const std::size_t begin = static_cast<std::size_t>(index) * piece,
                                   end = std::min(begin + piece, a.size());
                 std::uint32_t count = 0;  // without a branch: the compiler compares many at a time
                 for (std::size_t i = begin; i < end; ++i) {
                   const bool both_nan = E4M3{a[i]}.is_nan() & E4M3{b[i]}.is_nan();
                   count += (a[i] != b[i]) & !both_nan;
                 }
                 sum += count;
               });
  return sum.load();
}

Count count_differences(const std::vector<Target>& targets, const Recipe& recipe, ScaleFormat format,
                        QuantizeEngine& engine, int threads) {
  Count count{&recipe, format};
  for (const Target& target : targets) {
    const QuantizeResult result = run_recipe(target.item, recipe, format, engine, threads);
    const std::int64_t codes = differing_codes(result.codes.span(), target.codes, threads);
    std::int64_t scales = 0;
    for (std::size_t i = 0; i < result.scales.size(); ++i) {
      scales += f32_bits(canonical(result.scales[i])) != f32_bits(canonical(target.scales[i]));
    }
    count.codes += codes;
    count.scales += scales;
    count.tensors.push_back(
        {{"name", target.item.tensor->name}, {"codes_different", codes}, {"scales_different", scales}});
  }
  return count;
}

void report(const std::vector<Count>& counts, std::int64_t codes, std::int64_t scales,
            const std::string& path, Context& context) {
  context.text += fmt::format("differing from {}: of {} codes, of {} scales\n\n", path, codes, scales);
  context.text += fmt::format("{:<14}{:<8}{:>14}{:>14}\n", "recipe", "scale", "codes", "scales");
  Json list = Json::array();
  for (const Count& count : counts) {
    const bool equal = count.codes == 0 && count.scales == 0;
    context.text +=
        fmt::format("{:<14}{:<8}{:>14}{:>14}{}\n", count.recipe->name, scale_format_name(count.format),
                    count.codes, count.scales, equal ? "   equal" : "");
    list.push_back({{"recipe", count.recipe->name},
                    {"scale", scale_format_name(count.format)},
                    {"codes_different", count.codes},
                    {"scales_different", count.scales},
                    {"equal", equal},
                    {"ieee_stand_in", count.recipe->ieee_stand_in},
                    {"tensors", count.tensors}});
  }
  context.answer["match"] = {{"file", path}, {"codes", codes}, {"scales", scales}, {"recipes", list}};
}

}  // namespace

void match_recipes(const std::string& path, const QuantizePlan& plan, bool fixed_blocks,
                   QuantizeEngine& engine, Context& context) {
  const TensorFile file = read_tensor_file(path);
  const std::vector<Target> targets = targets_of(file, plan, fixed_blocks);
  std::vector<Count> counts;
  const auto rounds = static_cast<std::int64_t>(2 * all_recipes().size());
  Progress progress("match", rounds);
  for (const ScaleFormat format : {ScaleFormat::f32, ScaleFormat::ue8m0}) {
    for (const Recipe& recipe : all_recipes()) {
      counts.push_back(count_differences(targets, recipe, format, engine, context.threads));
      progress.update(static_cast<std::int64_t>(counts.size()));
    }
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const Count& a, const Count& b) { return a.codes + a.scales < b.codes + b.scales; });
  std::int64_t codes = 0, scales = 0;
  for (const Target& target : targets) {
    codes += target.item.grid.elements();
    scales += target.item.grid.scales();
  }
  report(counts, codes, scales, path, context);
  context.status = counts.front().codes + counts.front().scales == 0 ? 0 : 1;
}

}  // namespace fp8twin::cli
