// The page: complete, without scripts, and with every hostile character escaped.
#include "emulator/report/page.hpp"

#include "tests/catch.hpp"

using namespace fp8twin;

TEST_CASE("characters that HTML reads are escaped") {
  CHECK(html_escaped("<script>'a' & \"b\"</script>") ==
        "&lt;script&gt;&#39;a&#39; &amp; &quot;b&quot;&lt;/script&gt;");
  CHECK(html_escaped("plain [3, 4] 0x7e") == "plain [3, 4] 0x7e");
}

TEST_CASE("a page holds title and text, escaped, and loads nothing") {
  const std::string page = html_page("a <b>", "x & y\n");
  CHECK(page.find("<!doctype html>") == 0);
  CHECK(page.find("<title>a &lt;b&gt;</title>") != std::string::npos);
  CHECK(page.find("<pre>x &amp; y\n</pre>") != std::string::npos);
  for (const char* word : {"<script", "src=", "href=", "http"}) CHECK(page.find(word) == std::string::npos);
}
