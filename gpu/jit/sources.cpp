#include "gpu/jit/sources.hpp"

namespace fp8twin::jit {

std::uint64_t sources_digest() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const Header& header : sources()) {
    for (const char* text : {header.name, header.text}) {
      for (; *text; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
    }
  }
  return hash;
}

}  // namespace fp8twin::jit
