// A report as one HTML page: self-contained, no scripts, every character of the text escaped.
#pragma once

#include <string>
#include <string_view>

namespace fp8twin {

std::string html_escaped(std::string_view text);

/// A page with `text` set in a fixed-width font.
std::string html_page(std::string_view title, std::string_view text);

}  // namespace fp8twin
