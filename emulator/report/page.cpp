#include "emulator/report/page.hpp"

#include <fmt/core.h>

namespace fp8twin {

std::string html_escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string html_page(std::string_view title, std::string_view text) {
  constexpr std::string_view style =
      "body{margin:2rem;font-family:system-ui,sans-serif;background:#fff;color:#1a1a1a}"
      "pre{font-family:ui-monospace,monospace;font-size:.9rem;line-height:1.4;overflow-x:auto}"
      "@media(prefers-color-scheme:dark){body{background:#16181c;color:#e6e6e6}}";
  const std::string heading = html_escaped(title);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<h1>{}</h1>\n<pre>{}</pre>\n</body>\n</html>\n",
      heading, style, heading, html_escaped(text));
}

}  // namespace fp8twin
