// A shared library opened at run time: the program needs neither driver nor toolkit until a command asks for
// one.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <span>
#include <string>

#include "emulator/support/error.hpp"

namespace fp8twin {

class Library {
 public:
  /// Opens the first of `candidates` that the loader finds. `what` and `remedy` complete the error's
  /// sentence.
  Library(std::span<const std::string> candidates, const std::string& what, const std::string& remedy) {
    for (const std::string& candidate : candidates) {
      handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) {
        name_ = candidate;
        return;
      }
    }
    throw Error(
        fmt::format("{} was not found ({}): {}", what, candidates.empty() ? "" : candidates.front(), remedy));
  }
  // Never closed: CUDA's libraries keep threads and exit handlers of their own.

  /// Sets `function` to the symbol's address.
  template <class Function>
  void load(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(dlsym(handle_, symbol));
    if (!function)
      throw Error(fmt::format("{} has no function {}: a newer version is needed", name_, symbol));
  }

 private:
  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace fp8twin
