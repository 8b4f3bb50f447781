#include "emulator/files/strict_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "emulator/files/quote.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin {
namespace {

using Json = nlohmann::json;

/// Watches the parser's events for what JSON allows and a header must not: a key twice, endless nesting. (The library's
/// callback for parse() would do as well, but it searches an object's members again at the end of each of them.)
class Watcher : public nlohmann::json_sax<Json> {
 public:
  Watcher(std::string_view where, std::size_t size, int max_depth)
      : where_(where), size_(size), max_depth_(max_depth) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(Json::number_float_t, const Json::string_t&) override { return true; }
  bool string(Json::string_t&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(Json::string_t& name) override {
    if (!keys_.back().insert(name).second) throw Error(fmt::format("{} names {} twice", where_, quote(name)));
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) override {
    if (dynamic_cast<const Json::parse_error*>(&error)) {
      throw Error(fmt::format("{} is not JSON: it breaks off after {} of {} bytes", where_,
                              std::min(byte - (byte > 0), size_), size_));
    }
    throw Error(fmt::format("{} is not JSON: a number in it is out of range", where_));  // such as 1e999
  }

 private:
  bool open() {
    if (static_cast<int>(keys_.size()) >= max_depth_)
      throw Error(fmt::format("{} nests deeper than {} levels", where_, max_depth_));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::string_view where_;
  std::size_t size_;
  int max_depth_;
  std::vector<std::set<std::string>>
      keys_;  // of the objects (and arrays, which have none) that are open here
};

}  // namespace

nlohmann::json parse_strict_json(std::string_view text, std::string_view where, int max_depth) {
  Watcher watcher(where, text.size(), max_depth);
  Json::sax_parse(text.begin(), text.end(), &watcher);
  return Json::parse(text.begin(), text.end());
}

}  // namespace fp8twin
