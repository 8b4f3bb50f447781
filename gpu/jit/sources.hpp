// The headers that kernels include, as text inside the program. gpu/jit/embed.cmake writes the table at build
// time.
//
//   text      u32 a;  // a row        stripped   u32 a; u32 b;
//             u32  b;
//
// The digest is of the stripped text, so that a comment or a line break changes nothing. Recordings up to
// 0xb166786342b55a9b (the key `kernels` of everything in tests/golden) were made before: theirs is the digest
// of the full text, comments included, at the commit that made them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fp8twin::jit {

struct Header {
  const char* name;  // as an #include says it: "gpu/ptx/wgmma.hpp"
  const char* text;
};

std::span<const Header> sources();

/// `text` without // comments, and with one space for each run of white space between two tokens. String
/// literals stay as they are.
std::string stripped(std::string_view text);

/// 64-bit FNV-1a over name and stripped text of each header.
std::uint64_t digest_of(std::span<const Header> headers);

/// The digest of sources(), so that a recorded file can say which kernels made it.
std::uint64_t sources_digest();

}  // namespace fp8twin::jit
