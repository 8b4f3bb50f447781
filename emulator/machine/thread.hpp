// One emulated thread: who it is, what it knows, what it waits for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/machine/access.hpp"
#include "emulator/machine/fiber.hpp"
#include "emulator/machine/order.hpp"

namespace fp8twin::machine {

struct Block;
class Cluster;

/// What a thread stands still for; in words, for the report of a deadlock.
struct Wait {
  enum class For { nothing, mbarrier, named_barrier, cluster_barrier, warp, wgmma, bulk_group, registers };
  For what = For::nothing;
  u32 address = 0;  // of the mbarrier, or the barrier's id
  u32 value = 0;    // parity, operation, registers: whatever completes the sentence
  u32 rank = 0;     // block of the cluster that the mbarrier lies in
  const char* instruction = "";
  Site site;
};

/// Bulk stores of one thread, in order: they read shared memory and write global memory on their own.
struct BulkStores {
  u32 component = 0;  // 0: none issued yet (component 0 is thread 0's own)
  u32 issued = 0, landed = 0, waited = 0;
  Site site;                    // of the last one
  std::vector<u32> group_ends;  // `issued` at each commit
};

struct Thread {
  Cluster* cluster = nullptr;
  Block* block = nullptr;
  u32 tid = 0;
  u32 component = 0;  // of its own events
  u32 epoch = 1;      // of what it does now; a release begins the next one
  Knowledge knowledge;
  Knowledge at_init_fence;  // what it knew at its last fence.mbarrier_init: what a relaxed arrival passes on
  std::unique_ptr<Fiber> fiber;
  bool done = false;
  Wait wait;

  u32 wgmma_issued = 0;               // operations (mma and commit), to match those of the other 127 threads
  u32 cluster_arrivals = 0;           // at the cluster barrier: the generation it is in
  u32 cluster_waits = 0;              // and how many of them it has waited for
  u32 warp_collectives = 0;           // likewise for the 31 others of its warp
  u32 wgmma_waited = 0;               // of them, known to be over
  Site wgmma_site;                    // of the last mma
  u64 loads = 0;                      // since it last stood still
  u64 wgmma_version = 0;              // of its knowledge at the last of them
  std::vector<u32> wgmma_group_ends;  // operations before each commit
  BulkStores bulk;

  u32 warp() const { return tid / 32; }
  u32 lane() const { return tid % 32; }
  u32 warpgroup() const { return tid / 128; }

  /// What this thread does now, through the generic proxy.
  Actor actor(const char* instruction, Site site);
  /// "thread 5 of block (0,0)"
  std::string name() const;
  /// What this thread did so far has been passed on with its knowledge; what follows is a new epoch.
  void release() { knowledge.advance({component, ++epoch}); }
};

/// The emulated thread that this OS thread runs now.
Thread& self();

}  // namespace fp8twin::machine
