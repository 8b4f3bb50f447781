// `fp8twin explain KIND VALUE`: one function for each kind, from the typed value to a text that teaches and its JSON.
#pragma once

#include <string>

#include "emulator/cli/command.hpp"

namespace fp8twin::cli {

struct Explanation {
  std::string text;
  Json answer = Json::object();
};

Explanation explain_e4m3(const std::string& value);
Explanation explain_e5m2(const std::string& value);
Explanation explain_bf16(const std::string& value);
Explanation explain_f32(const std::string& value);
Explanation explain_e8m0(const std::string& value);
Explanation explain_encode(const std::string& value);
Explanation explain_descriptor(const std::string& value);

/// The E4M3 values on both sides of x, for a sentence: "0x29 = 0.28125 and 0x2a = 0.3125".
std::string e4m3_neighbours(float x);

/// `value` is a sum of products (dot_expression.hpp), `c` what the accumulator holds.
Explanation explain_dot(const std::string& value, const std::string& c, int fraction_bits);

}  // namespace fp8twin::cli
