#include "gpu/jit/sources.hpp"

#include <algorithm>

#include "emulator/support/fnv1a.hpp"

namespace fp8twin::jit {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The end of the string literal that begins at `begin`; of the text, where the literal has none.
std::size_t literal_end(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

std::string stripped(std::string_view text) {
  std::string result;
  bool space = false;
  for (std::size_t i = 0; i < text.size();) {
    if (is_space(text[i])) {
      space = true;
      ++i;
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());  // the line's end counts as the space
    } else {
      if (space && !result.empty()) result += ' ';
      space = false;
      const std::size_t end = text[i] == '"' ? literal_end(text, i) : i + 1;
      result += text.substr(i, end - i);
      i = end;
    }
  }
  return result;
}

std::uint64_t digest_of(std::span<const Header> headers) {
  Fnv1a hash;
  for (const Header& header : headers) {
    hash.add(std::string_view(header.name));
    hash.add(stripped(header.text));
  }
  return hash.value();
}

std::uint64_t sources_digest() { return digest_of(sources()); }

}  // namespace fp8twin::jit
