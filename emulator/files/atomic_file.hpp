// An output file that appears whole or not at all.
//
//     AtomicFile file(path);     a file without a name, in the folder of `path`
//     file.write(bytes); ...     fills it; `path` still holds what it held before
//     file.commit();             names it beside `path`, then renames: readers see the old file or the new one
//
// Without commit() the destructor leaves nothing behind. Nor does a killed process: a file without a name
// (O_TMPFILE) vanishes with it. Where the filesystem cannot do that, and for the moment between naming and
// renaming, the name is in a list that remove_unfinished_files(), callable from a signal handler, clears; the
// program's handlers call it. An existing target keeps its permissions, and a symbolic link its place: the
// file it points to is replaced. So writing over one's own memory-mapped input is safe. No fsync: after a
// power cut the file may be the old one, or lost. A pipe or a character device takes the bytes as they come,
// for it has no halves to hide; only a terminal and this process's own standard output, which belongs to the
// answer, are refused.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fp8twin {

class AtomicFile {
 public:
  /// How the unfinished file is kept; `named` is the fallback and can be asked for to test it.
  enum class Keep { unnamed_if_possible, named };

  /// Throws Error when `path` is a directory, or its folder is missing or closed to us.
  explicit AtomicFile(const std::string& path, Keep keep = Keep::unnamed_if_possible);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Gives the file its length and, where the filesystem can, the room for it: a full disk is found out before the
  /// work. What is not written stays zero. Throws Error; also for a pipe or a device, which have no length.
  void reserve(std::size_t bytes);
  /// Where the unfinished file is, for other processes to write into; Keep::named.
  std::string unfinished_name() const;

  /// Appends. Throws Error when the disk is full or the write fails otherwise.
  void write(std::span<const std::byte> bytes);
  /// The file now is at `path`, complete. To be called once, last.
  void commit();

 private:
  void open_beside(Keep keep, unsigned mode);
  void claim_name();
  void drop_name() noexcept;
  [[noreturn]] void fail(int error) const;

  std::string path_;  // as the caller said it, for messages
  /// What rename replaces: path_, or what the link there points to; empty: not a regular file.
  std::string target_;
  int descriptor_ = -1;
  int slot_ = -1;  // of our name in the list of unfinished files; -1: no name
};

/// Removes the named files that are not committed yet. Async-signal-safe; for handlers that end the process.
void remove_unfinished_files() noexcept;

}  // namespace fp8twin
