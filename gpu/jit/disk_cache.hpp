// Compiled kernels on disk: a kernel compiles once for each machine and toolkit, and not once for each run.
//
//   folder     $FP8TWIN_CACHE_DIR, else $XDG_CACHE_HOME/fp8twin, else ~/.cache/fp8twin
//   identity   everything that decides the machine code: NVRTC's version, its options, the text of every header that
//              kernels include (as a digest), the source, its wgmma shapes
//   file       <hash of the identity>.cubin:  "fp8twin cubin 1\n", three lengths, identity, ptxas's log, cubin, checksum
//
// Whoever reads compares the whole identity, so a clash of hashes, a foreign or a damaged file is as good as none: it is
// compiled again and replaced. Files appear whole (emulator/files/atomic_file.hpp), so processes may share the folder.
// Nothing here is an error: where the folder cannot be made, read or written, there is no cache.
#pragma once

#include <optional>
#include <string>

#include "gpu/jit/nvrtc.hpp"

namespace fp8twin::jit {

class DiskCache {
 public:
  /// An empty folder's name means no cache.
  explicit DiskCache(std::string folder) : folder_(std::move(folder)) {}

  /// What was stored under this very identity.
  std::optional<Compiled> load(const std::string& identity) const;
  /// True when it is on disk now.
  bool store(const std::string& identity, const Compiled& compiled) const;
  /// The file of an identity.
  std::string path(const std::string& identity) const;

 private:
  std::string folder_;
};

/// The folder that the environment names; empty where it names none.
std::string cache_folder();

/// compile(), through the cache of cache_folder().
Compiled compile_cached(const Source& source);

}  // namespace fp8twin::jit
