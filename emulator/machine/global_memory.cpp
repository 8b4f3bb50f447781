#include "emulator/machine/global_memory.hpp"

#include <fmt/format.h>

namespace fp8twin::machine {

void GlobalMemory::add(std::string name, const void* address, u64 bytes, Access access) {
  Range range{std::move(name), reinterpret_cast<u64>(address), bytes, access, nullptr};
  if (access != Access::read)
    range.writers = std::make_unique<std::atomic<u32>[]>((bytes + 1) / range.granule());
  ranges_.push_back(std::move(range));
}

const GlobalMemory::Range& GlobalMemory::find(const Actor& actor, u64 address, u64 bytes, u64 alignment,
                                              const char* doing) const {
  if (address % alignment != 0) {
    throw Fault(
        FaultKind::misaligned, actor.site, actor.thread, 0,
        fmt::format("{}: global address 0x{:x} is no multiple of {}", actor.text(), address, alignment));
  }
  const Range* nearest = nullptr;
  for (const Range& range : ranges_) {
    if (address >= range.address && bytes <= range.bytes && address - range.address <= range.bytes - bytes)
      return range;
    if (address >= range.address && (!nearest || range.address > nearest->address)) nearest = &range;
  }
  throw Fault(FaultKind::out_of_bounds, actor.site, actor.thread, 0,
              nearest ? fmt::format("{} {} {} bytes at offset {} of '{}', which has {} bytes", actor.text(),
                                    doing, bytes, address - nearest->address, nearest->name, nearest->bytes)
                      : fmt::format("{} {} {} bytes at a global address that the launch was not given",
                                    actor.text(), doing, bytes));
}

void GlobalMemory::need_readable(const Actor& actor, u64 address, u64 bytes, u64 alignment) const {
  find(actor, address, bytes, alignment, "reads");
}

void GlobalMemory::write(const Actor& actor, u64 address, u64 bytes, u64 alignment, u32 grid_thread) {
  const Range& range = find(actor, address, bytes, alignment, "writes");
  const u64 offset = address - range.address;
  if (range.access == Access::read) {
    throw Fault(
        FaultKind::out_of_bounds, actor.site, actor.thread, 0,
        fmt::format("{} writes offset {} of '{}', which is an input", actor.text(), offset, range.name));
  }
  const u64 granule = range.granule();
  for (u64 at = offset / granule; at < (offset + bytes + granule - 1) / granule; ++at) {
    const u32 before = range.writers[at].exchange(grid_thread + 1, std::memory_order_relaxed);
    if (before == 0 || before == grid_thread + 1) continue;
    throw Fault(
        FaultKind::race, actor.site, actor.thread, 0,
        fmt::format(
            "{} writes offset {} of '{}', which thread {} of block {} of the grid has written already",
            actor.text(), granule * at, range.name, (before - 1) % 1024, (before - 1) / 1024));
  }
}

void GlobalMemory::add_to(const Actor& actor, u64 address, u64 bytes, u64 alignment, u32 grid_thread) {
  const Range& range = find(actor, address, bytes, alignment, "adds to");
  if (range.access == Access::write || range.access == Access::write_bytes) {
    throw Fault(
        FaultKind::uninitialised, actor.site, actor.thread, 0,
        fmt::format(
            "{} adds to offset {} of '{}', which the launch was given to write only: nothing is there yet",
            actor.text(), address - range.address, range.name));
  }
  write(actor, address, bytes, alignment, grid_thread);
}

}  // namespace fp8twin::machine
