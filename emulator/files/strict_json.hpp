// JSON read with suspicion: whole text, UTF-8, no key twice in one object, nesting no deeper than the format
// has.
//
// A parser that keeps the last of two equal keys and one that keeps the first see two different files; so
// neither is chosen. The depth limit also bounds what a header of a million brackets costs.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace fp8twin {

/// Throws Error "WHERE: is not JSON ..." (duplicate key, too deep); WHERE names the file and the part of it.
nlohmann::json parse_strict_json(std::string_view text, std::string_view where, int max_depth);

}  // namespace fp8twin
