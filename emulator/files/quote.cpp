#include "emulator/files/quote.hpp"

#include <nlohmann/json.hpp>

namespace fp8twin {

std::string quote(std::string_view text) {
  constexpr std::size_t longest = 120;
  const bool cut = text.size() > longest;
  // `replace` turns what is not UTF-8, such as a character cut in two, into U+FFFD.
  return nlohmann::json(text.substr(0, longest))
             .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         (cut ? "..." : "");
}

}  // namespace fp8twin
