// Kernels compiled at first use and kept: in this process, by the text of their source; and on disk
// (gpu/jit/disk_cache.hpp).
//
//   get(source, name)   handle known?  ->  module loaded?  ->  on disk?  ->  compile
//
// A look-up compares the whole text of the source: whoever launches a kernel more than once keeps the handle.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "gpu/jit/nvrtc.hpp"
#include "gpu/launch/driver.hpp"

namespace fp8twin {

class KernelCache {
 public:
  /// Compiles what is missing of `sources`, several at a time (threads <= 0: one for each hardware thread). Throws the first
  /// Error.
  void prepare(std::span<const jit::Source> sources, int threads);

  /// The same for sources that may be wrong: of each, why it is not ready; empty where it is.
  std::vector<std::string> try_prepare(std::span<const jit::Source> sources, int threads);

  /// The entry `name` of `source`.
  Kernel get(const jit::Source& source, const std::string& name);

  /// What tells one source from another: its text. A name leaves things out, such as the oracle's bits.
  static const std::string& key(const jit::Source& source) { return source.text; }

 private:
  struct Loaded {
    explicit Loaded(std::span<const char> cubin) : module(cubin) {}
    Module module;
    std::map<std::string, Kernel> kernels;  // those asked for so far
  };
  std::map<std::string, Loaded> modules_;
};

}  // namespace fp8twin
