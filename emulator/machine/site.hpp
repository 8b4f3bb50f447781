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
  /// "gpu/kernels/gemm_2_tma.hpp:40", from the root of the project however the compiler was called.
  std::string text() const {
    std::string_view name = file;
    while (name.starts_with("../")) name.remove_prefix(3);
    return line ? std::string(name) + ":" + std::to_string(line) : "(unknown line)";
  }
};

}  // namespace fp8twin::machine
