#include "gpu/launch/machine_quantize.hpp"

#include "emulator/support/default_floats.hpp"
#include "gpu/kernels/quantize.hpp"
#include "gpu/kernels/scale_layout.hpp"
#include "gpu/launch/quantize_plan.hpp"

namespace fp8twin {
namespace {

using Access = machine::GlobalMemory::Access;

void add_notes(std::vector<machine::BankNote>& notes, const machine::LaunchReport& report) {
  notes.insert(notes.end(), report.bank_notes.begin(), report.bank_notes.end());
}

}  // namespace

std::vector<machine::BankNote> quantize_on_machine(const Recipe& recipe, ScaleFormat format,
                                                   const BlockGrid& grid, const Values& x,
                                                   std::span<std::uint8_t> codes, std::span<float> scales,
                                                   machine::LaunchOptions options) {
  need_quantize_sizes(grid, x, codes.size(), scales.size());
  const DefaultFloats floats;
  const auto input = std::visit([](auto values) { return std::as_bytes(values); }, x);
  machine::GlobalMemory memory;
  memory.add("x", input.data(), input.size(), Access::read);
  memory.add("codes", codes.data(), codes.size(), Access::write_bytes);
  memory.add("scales", scales.data(), scales.size_bytes(), Access::write);
  options.memory = &memory;

  const MachineQuantizeConfig config = quantize_config(recipe, format, grid.shape.rows, input_format(x));
  std::vector<machine::BankNote> notes;
  for (const QuantizeLaunch& launch :
       quantize_launches(grid, input_format(x), input.data(), codes.data(), scales.data())) {
    add_notes(notes, machine::launch(
                         {launch.grid_x, launch.grid_y}, {1, 1}, quantize_threads, quantize_shared_bytes,
                         [&](const QuantizeArguments& q) { quantize_blocks(config, q); }, launch.arguments,
                         options));
  }
  return notes;
}

TransposedScales transpose_scales_on_machine(i64 rows, i64 k_blocks, std::span<const float> a_scale,
                                             machine::LaunchOptions options) {
  need_scales(rows, k_blocks, a_scale.size());
  TransposedScales result;
  result.scales.resize(static_cast<u64>(k_blocks) * scale_layout_stride(rows));
  if (a_scale.empty()) return result;
  machine::GlobalMemory memory;
  memory.add("from", a_scale.data(), a_scale.size_bytes(), Access::read);
  memory.add("to", result.scales.data(), 4 * result.scales.size(), Access::write);
  options.memory = &memory;
  const ScaleLayoutLaunch launch = scale_layout_launch(rows, k_blocks, a_scale.data(), result.scales.data());
  add_notes(result.bank_notes,
            machine::launch(
                {launch.grid_x, launch.grid_y}, {1, 1}, scale_layout_threads, scale_layout_shared_bytes,
                [](const ScaleLayoutArguments& s) { transpose_scales(ScaleLayoutConfig{}, s); },
                launch.arguments, options));
  return result;
}

}  // namespace fp8twin
