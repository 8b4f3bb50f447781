// What `explain dot` takes: a sum of products of E4M3 values, at most as many as the tensor core sums at once.
//
//     sum     = [ - ] term { ( + | - ) term }
//     term    = factor * factor  |  [ count * ] ( factor * factor )       448*448 + 31*(2*2) - 0x38*1.5
//     factor  = [ - ] ( decimal | 0xNN | nan )
//
// A decimal must be an E4M3 value; 0xNN is a code. A minus before a term flips the sign of its first factor.
#pragma once

#include <string>
#include <vector>

#include "emulator/number/e4m3.hpp"

namespace fp8twin::cli {

struct DotProduct {
  E4M3 a, b;
  friend bool operator==(const DotProduct&, const DotProduct&) = default;
};

/// The products in order, counts expanded. Throws Error that names the place.
std::vector<DotProduct> parse_dot(const std::string& text, int most);

}  // namespace fp8twin::cli
