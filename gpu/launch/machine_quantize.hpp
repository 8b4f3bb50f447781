// Quantises on the emulated SM90, through the same kernels as the card's (card_quantize.hpp).
#pragma once

#include <span>
#include <vector>

#include "emulator/machine/launch.hpp"
#include "emulator/number/quantize.hpp"

namespace fp8twin {

/// As quantize() of emulator/number/quantize.hpp, and its bits. Throws Error for spans of another size, machine::Fault
/// for a kernel's mistake. The options' memory is set here. Notes of all launches, one after another.
std::vector<machine::BankNote> quantize_on_machine(const Recipe& recipe, ScaleFormat format,
                                                   const BlockGrid& grid, const Values& x,
                                                   std::span<std::uint8_t> codes, std::span<float> scales,
                                                   machine::LaunchOptions options = {});

struct TransposedScales {
  std::vector<float> scales;  // [k_blocks, stride]
  std::vector<machine::BankNote> bank_notes;
};

/// a_scale [rows, k_blocks] as the kernels' tensor map of scales reads it, [k_blocks, rows rounded up to 4].
TransposedScales transpose_scales_on_machine(i64 rows, i64 k_blocks, std::span<const float> a_scale,
                                             machine::LaunchOptions options = {});

}  // namespace fp8twin
