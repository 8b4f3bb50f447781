#include "emulator/machine/shared_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fp8twin::machine {

void SharedMemory::reset(u32 rank, u32 bytes, bool checks) {
  window_ = rank << rank_shift;
  checks_ = checks;
  bytes_.assign(bytes, 0xff);
  words_.assign(checks ? (bytes + 3) / 4 : 0, Word{});
  reads_.assign(1, Read{});  // index 0 says "none"
  free_read_ = 0;
  sites_.assign(1, {Site{}, ""});
}

void SharedMemory::need(const Actor& actor, u32 address, u32 bytes, u32 alignment) const {
  if (address < begin() || bytes > size() || address - begin() > size() - bytes) {
    throw Fault(FaultKind::out_of_bounds, actor.site, actor.thread, address,
                fmt::format("{}: shared address 0x{:x} with {} bytes lies outside 0x{:x}..0x{:x}",
                            actor.text(), address, bytes, begin(), begin() + size() - 1));
  }
  if (address % alignment != 0) {
    throw Fault(
        FaultKind::misaligned, actor.site, actor.thread, address,
        fmt::format("{}: shared address 0x{:x} is no multiple of {}", actor.text(), address, alignment));
  }
}

std::string SharedMemory::Known::text() const { return fmt::format("{} at {}", instruction, site.text()); }

u16 SharedMemory::intern(const Actor& actor) {
  for (std::size_t i = sites_.size(); i-- > 1;) {
    if (sites_[i].site == actor.site && sites_[i].instruction == actor.instruction)
      return static_cast<u16>(i);
  }
  sites_.push_back({actor.site, actor.instruction});
  return static_cast<u16>(sites_.size() - 1);
}

void SharedMemory::unordered(const Actor& actor, u32 address, const char* doing,
                             const std::string& earlier) const {
  throw Fault(FaultKind::race, actor.site, actor.thread, address,
              fmt::format("{} {} shared 0x{:x}, and nothing it has waited for says that {} is over",
                          actor.text(), doing, address, earlier));
}

/// Whoever touches a word must know of the last write to it.
void SharedMemory::need_order_of_write(const Actor& actor, const Word& at, u32 address) const {
  if (at.written == 0 || actor.knowledge->knows(at.writer)) return;
  unordered(actor, address, "touches", fmt::format("the write by {}", sites_[at.write_site].text()));
}

void SharedMemory::read(const Actor& actor, u32 address, u32 bytes) {
  if (!checks_) return;
  const u16 site = intern(actor);
  const u32 end = address + bytes;
  for (u32 at = address & ~3u; at < end; at += 4) {
    Word& w = word(at);
    const u32 low = std::max(at, address) - at, high = std::min(at + 4, end) - at;
    const u32 touched = ((1u << high) - 1) & ~((1u << low) - 1);
    if (w.barrier) {
      throw Fault(FaultKind::barrier_use, actor.site, actor.thread, at,
                  fmt::format("{} reads shared 0x{:x}, which holds an mbarrier", actor.text(), at));
    }
    if ((w.written & touched) != touched) {
      throw Fault(FaultKind::uninitialised, actor.site, actor.thread, at,
                  fmt::format("{} reads shared 0x{:x}, which nobody has written", actor.text(), at));
    }
    if (!actor.knowledge->knows(w.writer))
      unordered(actor, at, "reads", fmt::format("the write by {}", sites_[w.write_site].text()));
    if (actor.async_proxy && !w.async_writer && !actor.knowledge->knows_fenced(w.writer)) {
      throw Fault(
          FaultKind::missing_proxy_fence, actor.site, actor.thread, at,
          fmt::format(
              "{} reads shared 0x{:x} through the async proxy, written by {}: a fence.proxy.async is needed "
              "between the store and the barrier",
              actor.text(), at, sites_[w.write_site].text()));
    }
    // Reads that this one knows of need not be remembered: whoever knows of this one knows of them.
    u32* link = &w.reads;
    while (*link != 0) {
      Read& old = reads_[*link];
      if (old.event.component != actor.event.component && !actor.knowledge->knows(old.event)) {
        link = &old.next;
        continue;
      }
      const u32 gone = *link;
      *link = old.next;
      old.next = free_read_;
      free_read_ = gone;
    }
    u32 slot = free_read_;
    if (slot != 0) {
      free_read_ = reads_[slot].next;
    } else {
      slot = static_cast<u32>(reads_.size());
      reads_.emplace_back();
    }
    Word& again = word(at);  // reads_ may have moved; words_ have not
    reads_[slot] = {actor.event, again.reads, site};
    again.reads = slot;
  }
}

void SharedMemory::write(const Actor& actor, u32 address, u32 bytes) {
  if (!checks_) return;
  const u16 site = intern(actor);
  const u32 end = address + bytes;
  for (u32 at = address & ~3u; at < end; at += 4) {
    Word& w = word(at);
    const u32 low = std::max(at, address) - at, high = std::min(at + 4, end) - at;
    const u32 touched = ((1u << high) - 1) & ~((1u << low) - 1);
    if (w.barrier) {
      throw Fault(FaultKind::barrier_use, actor.site, actor.thread, at,
                  fmt::format("{} writes shared 0x{:x}, which holds an mbarrier", actor.text(), at));
    }
    if (w.written & touched) {
      need_order_of_write(actor, w, at);
      if (actor.async_proxy && !w.async_writer && !actor.knowledge->knows_fenced(w.writer)) {
        throw Fault(FaultKind::missing_proxy_fence, actor.site, actor.thread, at,
                    fmt::format("{} writes shared 0x{:x} through the async proxy over what {} wrote: a "
                                "fence.proxy.async is needed between the two",
                                actor.text(), at, sites_[w.write_site].text()));
      }
    }
    while (w.reads != 0) {
      Read& old = reads_[w.reads];
      if (!actor.knowledge->knows(old.event))
        unordered(actor, at, "overwrites", fmt::format("the read by {}", sites_[old.site].text()));
      const u32 gone = w.reads;
      w.reads = old.next;
      old.next = free_read_;
      free_read_ = gone;
    }
    w.writer = actor.event;
    w.async_writer = actor.async_proxy;
    w.swizzle = actor.swizzle;
    w.write_site = site;
    w.written = static_cast<u8>(w.written | touched);
  }
}

void SharedMemory::mark_barrier(u32 address, bool is_barrier) {
  if (!checks_) return;
  for (u32 at = address; at < address + 8; at += 4) word(at).barrier = is_barrier;
}

}  // namespace fp8twin::machine
