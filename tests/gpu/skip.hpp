// A test that cannot run here says why and counts as skipped: ctest looks for the word (Catch2 2 has no
// SKIP).
#pragma once

#include <cstdio>
#include <string>

namespace fp8twin::test {

inline void skip(const std::string& why) {
  std::printf("SKIPPED: %s\n", why.c_str());
  std::fflush(stdout);
}

}  // namespace fp8twin::test
