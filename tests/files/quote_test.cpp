#include "emulator/files/quote.hpp"

#include "tests/catch.hpp"

using fp8twin::quote;

TEST_CASE("plain names and UTF-8 stay as they are, in quotes") {
  CHECK(quote("a_scale") == "\"a_scale\"");
  CHECK(quote("poids d'été ✓") == "\"poids d'été ✓\"");
  CHECK(quote("") == "\"\"");
}

TEST_CASE("control characters and quotes are escaped, so that a message stays one line") {
  CHECK(quote("a\nb\x1b[2J\"\\") == R"("a\nb\u001b[2J\"\\")");
  CHECK(quote(std::string_view("\0", 1)) == R"("\u0000")");
}

TEST_CASE("bytes that are not UTF-8 become replacement characters") {
  CHECK(quote("a\xff") == "\"a\xef\xbf\xbd\"");
}

TEST_CASE("a long name is cut") {
  const std::string text = quote(std::string(1'000'000, 'x'));
  CHECK(text == "\"" + std::string(120, 'x') + "\"...");
}
