// Which line of a kernel called an instruction. Every function of the emulated vocabulary takes a Site as a defaulted last
// argument, so that reports name the kernel's line and the kernel never knows.
//
// __builtin_FILE and __builtin_LINE, read inside a default argument, are those of the outermost call; std::source_location
// does the same but does not compile under clang 14 with libstdc++ 12.
#pragma once

#include <string>
#include <string_view>

namespace fp8twin::machine {

struct Site {
  const char* file = "";
  int line = 0;

  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  friend constexpr bool operator==(Site a, Site b) { return a.file == b.file && a.line == b.line; }
  std::string text() const {
    return line ? std::string(file) + ":" + std::to_string(line) : "(unknown line)";
  }
};

}  // namespace fp8twin::machine
