// The unfinished output file as every rank sees it: opened by name, written at places of its own.
//
//   rank 0   AtomicFile: named, its length reserved, header written     ...   closes last, renames: whole or not at all
//   rank r          open by name, pwrite its rectangles, close          /
//
// pwrite and not MPI-IO: errors keep their words ("No space left on device"), nothing is printed by a library, and one
// process needs no MPI at all to do the same. What MPI-IO would add on NFS is had by order: the length is set before
// anybody opens the file, so that no client takes a page for its own to fill up; ranks write only, never read, and
// never the same bytes; each closes before rank 0 renames, and closing is when NFS hands the bytes over. Parallel file
// systems (Lustre, GPFS) keep POSIX's promise themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace fp8twin::mpi {

class SharedOutput {
 public:
  /// `path`: the output as its messages call it; `unfinished`: what is opened. Throws Error.
  SharedOutput(std::string path, const std::string& unfinished);
  ~SharedOutput();
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  /// `rows` rows of `bytes`, the first at `offset`, one every `stride` bytes. Throws Error when the disk is full or the
  /// write fails otherwise.
  void write_rows(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t offset,
                  std::int64_t stride);
  /// To be called last. Throws Error: some file systems find out no earlier that the disk is full.
  void close();

 private:
  void write_at(std::span<const std::byte> bytes, std::int64_t offset);
  [[noreturn]] void fail(int error) const;

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace fp8twin::mpi
