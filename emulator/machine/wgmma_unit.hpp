// The tensor core of one warpgroup, as seen by a kernel: wgmma operations posted, committed in groups, waited for.
//
//   128 threads call mma_async      each brings its registers; they become the unit's, and are poison until waited for
//   the last one posts it           operands are checked against what all four warps know: who wrote these bytes, past which fence
//   some time later it executes     now or when somebody waits: the schedule decides; in the order posted
//   wait_group<P>                   the calling thread gets its registers back, and knows that the operands have been read
//
// Threads need not stand still for mma_async and commit_group: the n-th of one thread belongs to the n-th of the others, and must be
// the same instruction on the same line with the same operands. Source: PTX ISA, "Asynchronous warpgroup level matrix instructions".
//
// Modelled: e4m3 by e4m3 into f32, K-major, A from shared memory or registers, scale-d, negation. Not modelled: other types,
// MN-major operands (FP8 has none), sparsity; A's registers are taken when the operation is issued.
#pragma once

#include <array>
#include <bitset>
#include <deque>
#include <vector>

#include "emulator/machine/access.hpp"
#include "emulator/machine/order.hpp"

namespace fp8twin::machine {

struct Block;
struct Thread;

/// One thread's accumulator registers as the checkers see them.
struct AccumulatorState {
  float* reg = nullptr;
  u32 n = 0;            // n / 2 registers
  bool touched = true;  // since the last wgmma.fence
  u32 operation = 0;    // the last one posted on these registers and not waited for, counted from 1; 0: none
  u32 bank = 0;         // of the unit, while in flight
  std::bitset<128> written;
};

class WgmmaUnit {
 public:
  WgmmaUnit(Block& block, u32 warpgroup, u32 component)
      : block_(block), warpgroup_(warpgroup), component_(component) {}

  struct Operands {
    u64 a_descriptor = 0, b_descriptor = 0;
    bool a_in_registers = false;
    bool scale_d = false;
    bool negate_a = false, negate_b = false;
    friend bool operator==(const Operands&, const Operands&) = default;
  };

  void mma_async(Thread& thread, AccumulatorState& d, const Operands& operands, const u32* a_registers,
                 Site site);
  void commit_group(Thread& thread, Site site);
  /// Gives d's registers back, if their last operation is over then.
  void wait_group(Thread& thread, u32 pending_groups, AccumulatorState& d, Site site);
  /// Gives none back. Returns how many operations are over.
  u32 wait_group(Thread& thread, u32 pending_groups, Site site);

  /// Operations that all 128 threads have posted and that have not executed.
  bool has_pending() const { return executed_ < posted_; }
  void execute_next();
  u32 executed() const { return executed_; }
  u32 posted() const { return posted_; }

 private:
  struct Operation {
    bool commit = false;
    u32 n = 0;
    Operands operands;
    u32 bank = 0;
    bool continues = false;  // on registers that were in flight already
    Site site;
    u32 arrived = 0, first_thread = 0;
    std::array<Knowledge, 4>
        learnt;  // of each warp, what its lanes knew on arrival and not at the operation before
    std::vector<std::array<u32, 4>> a_registers;  // of each thread
  };
  struct Bank {
    std::vector<float> d;  // [64][n]
    u32 returned = 0;      // threads that have their registers back
    bool free = true;
  };

  Operation& join(Thread& thread, const Operation& wanted);
  u32 take_bank(u32 n);
  void post(Thread& thread, Operation& operation);
  const Knowledge& known_to_all(const Operation& operation);
  void check_operand(const Actor& actor, u64 descriptor, u32 rows, const char* name);
  /// The shared address of each 16-byte chunk that a descriptor reads: [rows][2].
  const std::vector<u32>& chunks(const Actor& actor, u64 descriptor, u32 rows, const char* name);
  void gather(u64 descriptor, u32 rows, bool negate, u8* codes);

  Block& block_;
  u32 warpgroup_, component_;
  std::deque<Operation> operations_;  // from number first_ on
  u32 first_ = 0, posted_ = 0, executed_ = 0;
  std::vector<Bank> banks_;
  std::array<Knowledge, 4> known_to_warp_;  // at the last operation posted
  Knowledge known_;                         // what all four have in common
  struct ChunkTable {
    u64 descriptor;
    u32 rows;
    std::vector<u32> address;
  };
  std::vector<ChunkTable> tables_;
};

}  // namespace fp8twin::machine
