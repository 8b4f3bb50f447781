// Bank conflicts: how many times shared memory must be asked for what one warp wants at once.
//
//   32 banks of 4 bytes:  bank = (address / 4) % 32
//   a warp's access of 4 bytes a lane asks once, of 16 bytes four times (8 lanes each), if no bank is wanted for two different words;
//   every further word in the same bank costs one more.
//
// Lanes run one after another here, so accesses of one instruction are gathered by line and occurrence until all 32 lanes came by.
// Counted as notes, never as faults. Source: CUDA C++ Programming Guide, "Shared Memory"; conflicts of 16-byte accesses by quarter warps.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "emulator/layout/integers.hpp"
#include "emulator/machine/site.hpp"

namespace fp8twin::machine {

/// How often shared memory is asked for `addresses` of `bytes` each (4, 8 or 16), beyond what a conflict-free access needs.
u32 extra_wavefronts(const u32* addresses, u32 lanes, u32 bytes);

struct BankNote {
  Site site;
  const char* instruction = "";
  u64 accesses = 0;          // of whole warps
  u64 extra_wavefronts = 0;  // 0: no conflict
};

class BankMeter {
 public:
  void reset(u32 warps);
  /// One lane's share of a warp's access.
  void count(u32 warp, u32 lane, const char* instruction, Site site, u32 address, u32 bytes);
  /// A whole warp's access at once (stmatrix: eight rows of 16 bytes for each matrix).
  void count_whole(const char* instruction, Site site, const u32* addresses, u32 lanes, u32 bytes);
  std::vector<BankNote> notes() const { return notes_; }

 private:
  /// Occurrences of one line looked at in each block: enough to see a pattern, few enough to cost nothing.
  static constexpr u32 watched = 64;
  struct Line {
    Site site;
    u32 note;
    std::array<u32, 32> occurrence{};                         // of each lane
    std::map<u32, std::pair<u32, std::array<u32, 32>>> open;  // occurrence -> lanes seen, addresses
  };
  u32 note_of(const char* instruction, Site site);
  std::vector<std::vector<Line>> lines_;  // of each warp
  std::vector<BankNote> notes_;
};

}  // namespace fp8twin::machine
