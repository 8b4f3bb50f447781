// The headers that kernels include, as text inside the program. gpu/jit/embed.cmake writes the table at build
// time.
#pragma once

#include <cstdint>
#include <span>

namespace fp8twin::jit {

struct Header {
  const char* name;  // as an #include says it: "gpu/ptx/wgmma.hpp"
  const char* text;
};

std::span<const Header> sources();

/// A digest (64-bit FNV-1a) of all of them, so that a recorded file can say which kernels made it.
std::uint64_t sources_digest();

}  // namespace fp8twin::jit
