#include "emulator/files/strict_json.hpp"

#include "tests/catch.hpp"
#include "tests/files/hostile.hpp"

using namespace fp8twin;

namespace {

std::string refusal(std::string_view text, int max_depth = 3) {
  return test::error_of([&] { parse_strict_json(text, "FILE: the header", max_depth); });
}

}  // namespace

TEST_CASE("JSON of allowed depth parses") {
  const auto json = parse_strict_json(R"({"a":{"shape":[1,2]},"b":"é"}   )", "FILE", 3);
  CHECK(json["a"]["shape"][1] == 2);
  CHECK(json["b"] == "é");
}

TEST_CASE("a key twice in one object is refused, in two objects it is not") {
  CHECK(refusal(R"({"a":1,"b":2,"a":1})") == R"(FILE: the header names "a" twice)");
  CHECK(refusal(R"({"x":{"a":1,"\u0061":2}})") == R"(FILE: the header names "a" twice)");
  CHECK(refusal(R"({"x":{"a":1},"y":{"a":1},"a":1})").empty());
}

TEST_CASE("text that is not JSON is refused with the byte where it breaks") {
  CHECK(refusal("") == "FILE: the header is not JSON: it breaks off after 0 of 0 bytes");
  CHECK(refusal(R"({"a":})") == "FILE: the header is not JSON: it breaks off after 5 of 6 bytes");
  CHECK(refusal("{} x").find("is not JSON") != std::string::npos);
  CHECK(refusal("{\"\xff\":1}").find("is not JSON") != std::string::npos);
  CHECK(refusal(R"({"\ud800":1})").find("is not JSON") != std::string::npos);
  CHECK(refusal("\xef\xbb\xbf").find("is not JSON") != std::string::npos);
  CHECK(refusal(R"({"a":1e999})") == "FILE: the header is not JSON: a number in it is out of range");
  CHECK(refusal(R"({"a":NaN})").find("is not JSON") != std::string::npos);
}

TEST_CASE("deep nesting is refused and does not reach the stack") {
  CHECK(refusal("[[[]]]").empty());
  CHECK(refusal("[[[[]]]]") == "FILE: the header nests deeper than 3 levels");
  CHECK(refusal(R"({"a":{"b":[{}]}})") == "FILE: the header nests deeper than 3 levels");
  CHECK(refusal(std::string(5'000'000, '[')) == "FILE: the header nests deeper than 3 levels");
}
