// A shared library opened at run time: the program needs neither driver nor toolkit until a command asks for
// one.
//
// Where CUDA's libraries are looked for, in this order:
//
//   the folders of FP8TWIN_LIBRARY_PATH, colons between     the one of a Python package, say
//   where the loader looks                                  LD_LIBRARY_PATH, /etc/ld.so.conf
//   $CUDA_HOME, $CUDA_PATH, /usr/local/cuda                 in lib64, lib, targets/x86_64-linux/lib, extras/CUPTI/lib64
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/support/error.hpp"

namespace fp8twin {

/// All places of a CUDA library that goes by any of `names` ("libnvrtc.so.13", "libnvrtc.so"), the best first.
inline std::vector<std::string> cuda_library_candidates(const std::vector<std::string>& names) {
  std::vector<std::string> candidates;
  const auto add_folder = [&](const std::string& folder) {
    for (const std::string& name : names) candidates.push_back(fmt::format("{}/{}", folder, name));
  };
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  std::istringstream folders(variable("FP8TWIN_LIBRARY_PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty()) add_folder(folder);
  }
  candidates.insert(candidates.end(), names.begin(), names.end());
  for (const std::string& root :
       {variable("CUDA_HOME"), variable("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib", "extras/CUPTI/lib64"}) {
      add_folder(fmt::format("{}/{}", root, folder));
    }
  }
  return candidates;
}

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

  /// The candidate that was opened, without its folder.
  std::string name() const { return std::filesystem::path(name_).filename().string(); }

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
