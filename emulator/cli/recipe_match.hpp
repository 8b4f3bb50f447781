// `quantize --match FILE`: which recipe made the codes and scales in FILE?
//
// Every recipe with either scale format quantises the plan's tensors, and what differs from FILE's is
// counted: codes, and scales by their bits. A NaN matches any NaN, since its sign and payload depend on the
// machine that made it.
#pragma once

#include <string>

#include "emulator/cli/command.hpp"
#include "emulator/cli/quantize_plan.hpp"

namespace fp8twin::cli {

/// Puts the counts into the context, best recipe first; status 0 when one matches in everything, else 1.
/// FILE's scale shapes decide the blocks unless `fixed_blocks`. A tensor of the plan that is not F8_E4M3 in
/// FILE is left out, unless it was named. Throws Error when shapes disagree or nothing is left to compare.
void match_recipes(const std::string& path, const QuantizePlan& plan, bool fixed_blocks,
                   QuantizeEngine& engine, Context& context);

}  // namespace fp8twin::cli
