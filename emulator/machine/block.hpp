// A thread block (CTA): its threads, shared memory and barriers.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "emulator/machine/banks.hpp"
#include "emulator/machine/mbarrier.hpp"
#include "emulator/machine/shared_memory.hpp"
#include "emulator/machine/thread.hpp"
#include "emulator/machine/wgmma_unit.hpp"

namespace fp8twin::machine {

/// Threads that meet: a named barrier of the block, or the barrier of a cluster.
struct Rendezvous {
  u32 expected = 0, arrived = 0, generation = 0;
  Site site;           // of the first who arrived
  Knowledge gathered;  // of all who have arrived
  Knowledge released;  // the same when the last one did (cluster barrier only)
  std::vector<Thread*> waiting;
  std::array<u32, 32> of_warp{};  // threads that arrived, by warp (named barriers only)
};

/// One instruction that all 32 lanes of a warp execute together.
struct WarpCollective {
  const char* instruction = "";
  Site site;
  u64 argument = 0;  // what all must agree on
  u32 arrived = 0, first_lane = 0;
  std::array<std::array<u32, 5>, 32> value{};  // what each lane brought
  std::vector<Thread*> waiting;
};

struct Block {
  Cluster* cluster = nullptr;
  u32 rank = 0;      // in the cluster
  u32 x = 0, y = 0;  // ctaid
  u32 linear = 0;    // ctaid.y * nctaid.x + ctaid.x
  SharedMemory shared;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<std::unique_ptr<MBarrier>> mbarriers;
  std::array<Rendezvous, 16> named;
  std::vector<std::unique_ptr<WgmmaUnit>> wgmma;  // of each warpgroup
  std::vector<std::array<WarpCollective, 2>>
      collectives;                    // of each warp; two, since a slow lane may still read the last one
  std::vector<u32> warp_registers;    // of each warp, a thread: setmaxnreg's account
  std::vector<bool> registers_known;  // by a setmaxnreg before; else an upper limit
  struct RegisterChange {
    u32 registers;
    Site site;
  };
  std::vector<std::vector<RegisterChange>> register_history;  // of each warp
  std::vector<Thread*> register_waiters;
  u32 live_threads = 0;
  BankMeter banks;

  /// The barrier at `address`; nullptr where none was initialised.
  MBarrier* mbarrier(u32 address);
};

}  // namespace fp8twin::machine
