// What a launch may touch of the host's memory: named ranges, to read, to write, or to add to.
//
//   GlobalMemory memory;
//   memory.add("a", a, bytes, GlobalMemory::Access::read);
//   memory.add("d", d, bytes, GlobalMemory::Access::write);
//   memory.add("c", c, bytes, GlobalMemory::Access::read_write);   holds values before the launch: a reduction may add to them
//
// Kernels get plain addresses, as on the card. An access outside every range is an error here, and so is a second write to the same
// two bytes (write_bytes: the same byte) by another thread of the grid: kernels of this project store each element once, so that a
// store into a neighbour's rows shows even where the values agree. Safe for blocks on several OS threads.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "emulator/machine/access.hpp"
#include "emulator/machine/fault.hpp"

namespace fp8twin::machine {

class GlobalMemory {
 public:
  enum class Access {
    read,
    write,
    write_bytes,  // elements of one byte: twice the memory for who wrote what
    read_write
  };

  void add(std::string name, const void* address, u64 bytes, Access access);

  /// Throws Fault unless the range may be read, and `address` is a multiple of `alignment`.
  void need_readable(const Actor& actor, u64 address, u64 bytes, u64 alignment) const;
  /// As above for a write, and notes the writer: `grid_thread` is unique in the grid.
  void write(const Actor& actor, u64 address, u64 bytes, u64 alignment, u32 grid_thread);
  /// As write, for an instruction that adds to what is there: only a read_write range has something there. The sum would depend
  /// on the order of two writers, so here too there is one.
  void add_to(const Actor& actor, u64 address, u64 bytes, u64 alignment, u32 grid_thread);

 private:
  struct Range {
    std::string name;
    u64 address, bytes;
    Access access;
    std::unique_ptr<std::atomic<u32>[]> writers;  // of every granule(): grid thread + 1
    u64 granule() const { return access == Access::write_bytes ? 1 : 2; }
  };
  const Range& find(const Actor& actor, u64 address, u64 bytes, u64 alignment, const char* doing) const;

  std::vector<Range> ranges_;
};

}  // namespace fp8twin::machine
