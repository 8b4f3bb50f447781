// Kernels compiled at first use and kept: in this process, by the text of their source; and on disk
// (gpu/jit/disk_cache.hpp).
#pragma once

#include <map>
#include <span>
#include <string>

#include "gpu/jit/nvrtc.hpp"
#include "gpu/launch/driver.hpp"

namespace fp8twin {

class KernelCache {
 public:
  /// Compiles what is missing of `sources`, several at a time (threads <= 0: one for each hardware thread).
  void prepare(std::span<const jit::Source> sources, int threads);

  /// The entry `name` of `source`.
  Kernel get(const jit::Source& source, const std::string& name);

  /// What tells one source from another: its text. A name leaves things out, such as the oracle's bits.
  static const std::string& key(const jit::Source& source) { return source.text; }

 private:
  std::map<std::string, Module> modules_;
};

}  // namespace fp8twin
