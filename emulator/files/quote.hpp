// Names from files, made safe to print: in quotes, control characters escaped as JSON does, long ones cut.
//
//   weight              ->  "weight"
//   a<newline><ESC>[2J  ->  "a\n\u001b[2J"
//
// A header may name a tensor anything; an error message stays one line, and a terminal is not repainted by
// it.
#pragma once

#include <string>
#include <string_view>

namespace fp8twin {

std::string quote(std::string_view text);

}  // namespace fp8twin
