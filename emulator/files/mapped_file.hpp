// A file's bytes as memory: opened, mapped read-only, unmapped when the object dies.
//
//     disk     [ header | tensor bytes ... ]
//                  ^ pages come in when they are touched; nothing is copied, nothing is read twice
//     bytes()  [ header | tensor bytes ... ]
//
// The map is private to the reader and names the file's inode, not its path: a file that is *replaced*
// meanwhile (as AtomicFile does) keeps its old bytes here. Not handled: a file that another program
// *shortens* while it is mapped; touching a page that is gone raises SIGBUS, as for every program that maps
// files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fp8twin {

class MappedFile {
 public:
  /// Maps all of `path`; an empty file gives empty bytes. Throws Error when it is not a regular, readable
  /// file.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace fp8twin
