// What the chooser's model (gpu/launch/choose.hpp) says of its candidates, in words and without a card.
#pragma once

#include <string>

#include "gpu/bench/shapes.hpp"

namespace fp8twin::bench {

/// A table of candidates, the least estimate first, in microseconds, at most `most_rows` of them (0: all); and of the one that
/// choose_config() takes, why. BF16 output.
std::string estimates(const Shape& shape, u32 multiprocessors, int most_rows);

}  // namespace fp8twin::bench
