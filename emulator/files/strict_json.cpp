#include "emulator/files/strict_json.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "emulator/files/quote.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {

nlohmann::json parse_strict_json(std::string_view text, std::string_view where, int max_depth) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys;  // of the objects that are open here
  const auto check = [&](int depth, Event event, const nlohmann::json& value) {
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= max_depth) throw Error(fmt::format("{} nests deeper than {} levels", where, max_depth));
      if (event == Event::object_start) keys.emplace_back();
    } else if (event == Event::object_end) {
      keys.pop_back();
    } else if (event == Event::key && !keys.back().insert(value.get<std::string>()).second) {
      throw Error(fmt::format("{} names {} twice", where, quote(value.get_ref<const std::string&>())));
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text.begin(), text.end(), check);
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(
        fmt::format("{} is not JSON: it breaks off at byte {} of {}", where, error.byte, text.size()));
  } catch (const nlohmann::json::exception&) {  // a number beyond binary64, such as 1e999
    throw Error(fmt::format("{} is not JSON: a number in it is out of range", where));
  }
}

}  // namespace fp8twin
