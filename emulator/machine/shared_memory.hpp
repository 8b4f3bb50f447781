// The shared memory of one block: bytes, and beside every four of them who wrote them and who has read them since.
//
//   window   rank << 24         a block's own addresses carry its rank in the cluster in their top byte
//     + 0 .. base-1             the system's own KiB: no kernel may touch it
//     + base .. base+size-1     dynamic shared memory; every byte starts as poison (0xff: a NaN in every format here)
//
//   word     writer's event, bytes written so far, list of readers' events
//
// A read must know of the write; a write must know of the write before and of every read of it. "Know" is happens-before
// (order.hpp), so a missing wait is found even when the copy happened to land in time. What the generic proxy wrote, the async
// proxy must know through a fence.proxy.async.
//
// Modelled: the happens-before of barriers, mbarriers, wgmma groups and bulk groups; sub-word stores. Not modelled: timing.
#pragma once

#include <span>
#include <vector>

#include "emulator/machine/access.hpp"
#include "emulator/machine/fault.hpp"

namespace fp8twin::machine {

class SharedMemory {
 public:
  /// Where dynamic shared memory begins on SM90: the first KiB belongs to the system. Source: tests/golden/layouts.json.
  static constexpr u32 base = 1024;
  /// All that a block may ask for.
  static constexpr u32 max_bytes = 227 * 1024;

  static constexpr u32 rank_shift = 24;

  /// Poison, nothing written. `checks` off keeps the bytes and drops every check but the bounds.
  void reset(u32 rank, u32 bytes, bool checks);

  /// The first address of dynamic shared memory.
  u32 begin() const { return window_ + base; }

  u32 size() const { return static_cast<u32>(bytes_.size()); }

  /// Throws Fault unless [address, address + bytes) lies inside and `address` is a multiple of `alignment`.
  void need(const Actor& actor, u32 address, u32 bytes, u32 alignment) const;

  /// Checks and records an access; the bytes themselves are moved through data().
  void read(const Actor& actor, u32 address, u32 bytes);
  void write(const Actor& actor, u32 address, u32 bytes);

  /// Bytes at `address`; bounds were checked by need().
  u8* data(u32 address) { return bytes_.data() + (address - begin()); }
  const u8* data(u32 address) const { return bytes_.data() + (address - begin()); }

  /// True where TMA wrote last: such bytes lie swizzled by their absolute address.
  bool written_by_tma(u32 address) const {
    return checks_ && word(address).written && word(address).async_writer;
  }

  /// The swizzle in which it did.
  SwizzleMode tma_swizzle(u32 address) const { return word(address).swizzle; }

  /// An mbarrier object takes eight bytes that no ordinary access may touch.
  void mark_barrier(u32 address, bool is_barrier);
  bool is_barrier(u32 address) const { return word(address).barrier; }

 private:
  struct Word {
    Event writer;
    u32 reads = 0;                            // head of a list in reads_, 0 for none
    u16 write_site = 0;                       // into sites_
    u8 written = 0;                           // a bit for each of the four bytes
    SwizzleMode swizzle = SwizzleMode::none;  // in which TMA wrote it
    bool async_writer : 1 = false;
    bool barrier : 1 = false;
  };
  struct Read {
    Event event;
    u32 next;
    u16 site;
  };

  Word& word(u32 address) { return words_[(address - begin()) / 4]; }
  const Word& word(u32 address) const { return words_[(address - begin()) / 4]; }
  u16 intern(const Actor& actor);
  void need_order_of_write(const Actor& actor, const Word& word, u32 address) const;
  [[noreturn]] void unordered(const Actor& actor, u32 address, const char* doing,
                              const std::string& earlier) const;

  std::vector<u8> bytes_;
  std::vector<Word> words_;
  std::vector<Read> reads_;
  u32 free_read_ = 0;
  struct Known {
    Site site;
    const char* instruction;
    std::string text() const;
  };
  std::vector<Known> sites_;
  u32 window_ = 0;
  bool checks_ = true;
};

}  // namespace fp8twin::machine
