// For tests of readers: the sentence that a reader refuses with, and deterministic damage to a file's bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/support/error.hpp"
#include "emulator/support/random.hpp"

namespace fp8twin::test {

/// What `action` throws as an Error; "" when it does not throw.
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// The i-th damaged copy of `bytes`: one edit mostly, up to four, each a flip, a deletion, a repetition, or
/// one of `pieces` put in. Only the first `reach` bytes are edited.
inline std::string mutate(std::string bytes, std::size_t reach, const std::vector<std::string_view>& pieces,
                          std::uint64_t i) {
  const Random random(2026, i);
  std::uint64_t draw = 0;
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random.below(draw++, bound)); };
  for (std::size_t edits = below(3) ? 1 : 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(reach), length = 1 + below(8);
    if (at >= bytes.size()) continue;
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes.erase(at, length);
        break;
      case 2:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 3:
        bytes.insert(at, pieces[below(pieces.size())]);
        break;
      default: {
        const std::string_view piece = pieces[below(pieces.size())];
        bytes.replace(at, piece.size(), piece);
      }
    }
  }
  return bytes;
}

}  // namespace fp8twin::test
