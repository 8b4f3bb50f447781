// mbarriers, named barriers, the barrier of a cluster: see mbarrier.hpp and operations.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emulator/machine/operations.hpp"

namespace fp8twin::machine {
namespace {

[[noreturn]] void fault(FaultKind kind, Thread& thread, u32 address, Site site, const std::string& what) {
  throw Fault(kind, site, static_cast<int>(thread.tid), address,
              fmt::format("{}: {}: {}", site.text(), thread.name(), what));
}

/// The block that a shared::cluster address lies in.
Block& block_of(Thread& thread, u32 address, Site site) {
  const u32 rank = address >> SharedMemory::rank_shift;
  auto& blocks = thread.cluster->blocks();
  if (rank >= blocks.size())
    fault(FaultKind::out_of_bounds, thread, address, site,
          fmt::format("no block of rank {} in the cluster", rank));
  Block& block = *blocks[rank];
  if (block.live_threads == 0) {
    fault(FaultKind::unfinished, thread, address, site,
          fmt::format("block ({},{}) of the cluster has ended: its shared memory may belong to another one",
                      block.x, block.y));
  }
  return block;
}

MBarrier& live_barrier(Thread& thread, Block& block, u32 address, const char* instruction, Site site) {
  MBarrier* barrier = block.mbarrier(address);
  if (!barrier || !barrier->live) {
    block.shared.need(thread.actor(instruction, site), address, 8, 8);
    fault(FaultKind::barrier_use, thread, address, site,
          fmt::format("{}: no mbarrier was initialised at shared 0x{:x}", instruction, address));
  }
  if (thread.cluster->checks() && !thread.knowledge.knows(barrier->initialised)) {
    fault(FaultKind::race, thread, address, site,
          fmt::format("{}: the mbarrier at shared 0x{:x} was initialised by another thread, and nothing says "
                      "that this is over: a "
                      "barrier is needed after mbarrier.init",
                      instruction, address));
  }
  return *barrier;
}

/// The hardware counts warps: 32 threads of as many warps are not a warp.
void need_whole_warps(Thread& thread, Rendezvous& barrier, u32 id, const char* instruction, Site site) {
  const u32 threads = thread.cluster->settings().threads;
  for (u32 warp = 0; warp < barrier.of_warp.size(); ++warp) {
    const u32 arrived = std::exchange(barrier.of_warp[warp], 0u),
              lanes = std::min(32u, threads - std::min(threads, 32 * warp));
    if (lanes == 0 || arrived % lanes == 0) continue;
    fault(FaultKind::disagreement, thread, id, site,
          fmt::format("{} {}: {} lanes of warp {} came, and a warp comes as a whole; or two groups of "
                      "warps use this barrier at a time",
                      instruction, id, arrived, warp));
  }
}

/// Until the block knows of it, the arriving thread may still be about to touch this block's shared memory.
void note_remote_arrival(MBarrier& barrier, Event event, Site site) {
  for (MBarrier::RemoteArrival& known : barrier.remote) {
    if (known.event.component != event.component) continue;
    known = {event, site};
    return;
  }
  barrier.remote.push_back({event, site});
}

/// Ends the phase if nothing is missing.
void maybe_complete(Cluster& cluster, MBarrier& barrier, const std::string& who, Site site) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  if (cluster.checks() && barrier.in_flight != 0) {
    throw Fault(FaultKind::transaction_count, barrier.expect_site.line ? barrier.expect_site : site, -1,
                barrier.address,
                fmt::format("{}: phase {} of the mbarrier at shared 0x{:x} ends while {} bytes of its copies "
                            "are in flight ({}): "
                            "expect_tx announced too few",
                            (barrier.expect_site.line ? barrier.expect_site : site).text(), barrier.phase,
                            barrier.address, barrier.in_flight, who));
  }
  barrier.gathered.learn(barrier.completion());
  barrier.released = barrier.gathered;
  ++barrier.phase;
  barrier.pending = barrier.count;
  cluster.wake(barrier.waiting);
}

}  // namespace

MBarrier* Block::mbarrier(u32 address) {
  for (auto& barrier : mbarriers) {
    if (barrier->address == address) return barrier.get();
  }
  return nullptr;
}

void mbarrier_init(Thread& thread, u32 address, u32 count, Site site) {
  Block& block = *thread.block;
  const Actor actor = thread.actor("mbarrier.init", site);
  block.shared.need(actor, address, 8, 8);
  if (count < 1 || count > (1u << 20) - 1)
    fault(FaultKind::barrier_use, thread, address, site,
          fmt::format("mbarrier.init with a count of {}: 1 to 2^20-1", count));
  MBarrier* barrier = block.mbarrier(address);
  if (barrier && barrier->live)
    fault(FaultKind::barrier_use, thread, address, site,
          fmt::format("the mbarrier at shared 0x{:x} is live already", address));
  if (!barrier) {
    block.mbarriers.push_back(std::make_unique<MBarrier>());
    barrier = block.mbarriers.back().get();
    barrier->address = address;
    barrier->component = thread.cluster->new_component(site);
  }
  block.shared.write(actor, address, 8);
  block.shared.mark_barrier(address, true);
  barrier->live = true;
  barrier->past += std::exchange(barrier->phase, 0u) + 1;
  barrier->initialised = {barrier->component, barrier->past};
  thread.knowledge.advance(barrier->initialised);
  barrier->bytes = 0;
  barrier->count = barrier->pending = count;
  barrier->gathered = barrier->released = thread.knowledge;
  thread.release();
}

void mbarrier_init_fence(Thread& thread) {
  for (const auto& barrier : thread.block->mbarriers) {
    if (thread.knowledge.knows(barrier->initialised)) thread.knowledge.fence_event(barrier->initialised);
  }
  thread.at_init_fence = thread.knowledge;
  thread.release();
}

void mbarrier_inval(Thread& thread, u32 address, Site site) {
  MBarrier& barrier = live_barrier(thread, *thread.block, address, "mbarrier.inval", site);
  if (!barrier.waiting.empty() || barrier.in_flight)
    fault(FaultKind::barrier_use, thread, address, site,
          "mbarrier.inval while somebody waits or a copy is in flight");
  barrier.live = false;
  thread.block->shared.mark_barrier(address, false);
}

void mbarrier_arrive(Thread& thread, u32 address, u32 expect_bytes, bool cluster, const char* instruction,
                     Site site) {
  Block& block = block_of(thread, address, site);
  if (!cluster && &block != thread.block) {
    fault(FaultKind::out_of_bounds, thread, address, site,
          fmt::format(
              "{}: shared 0x{:x} is in block ({},{}): the form for another block of the cluster is needed",
              instruction, address, block.x, block.y));
  }
  MBarrier& barrier = live_barrier(thread, block, address, instruction, site);
  if (barrier.pending == 0) {
    fault(
        FaultKind::barrier_use, thread, address, site,
        fmt::format("{}: phase {} of the mbarrier at shared 0x{:x} has had its {} arrivals, and waits for {} "
                    "bytes",
                    instruction, barrier.phase, address, barrier.count, barrier.bytes));
  }
  barrier.bytes += expect_bytes;
  if (expect_bytes) barrier.expect_site = site;
  if (barrier.bytes > (1 << 20) - 1 || barrier.bytes < -((1 << 20) - 1)) {
    fault(FaultKind::transaction_count, thread, address, site,
          fmt::format("the mbarrier at shared 0x{:x} would expect {} bytes; it counts up to 2^20-1", address,
                      barrier.bytes));
  }
  if (&block != thread.block) note_remote_arrival(barrier, {thread.component, thread.epoch}, site);
  barrier.gathered.join(thread.knowledge);
  thread.release();
  --barrier.pending;
  maybe_complete(*thread.cluster, barrier, fmt::format("the last arrival was by {}", thread.name()), site);
  thread.cluster->maybe_yield(thread);
}

bool mbarrier_try_wait_parity(Thread& thread, u32 address, u32 parity, Site site) {
  if (parity > 1)
    fault(FaultKind::barrier_use, thread, address, site, fmt::format("a phase parity of {}: 0 or 1", parity));
  MBarrier& barrier = live_barrier(thread, *thread.block, address, "mbarrier.try_wait.parity", site);
  if (!barrier.is_over(parity)) {
    barrier.waiting.push_back(&thread);
    thread.wait = {Wait::For::mbarrier,        address, parity, thread.block->rank,
                   "mbarrier.try_wait.parity", site};
    thread.cluster->suspend(thread);
    if (!barrier.is_over(parity)) return false;  // two phases on: the wait is for the next one
  }
  thread.knowledge.join(barrier.released);
  return true;
}

void mbarrier_complete(Block& block, u32 address, u32 bytes, const TensorCopy& copy) {
  MBarrier& barrier = *block.mbarrier(address);
  barrier.bytes -= bytes;
  barrier.in_flight -= bytes;
  maybe_complete(*block.cluster, barrier,
                 fmt::format("the last one landed was issued at {}", copy.site.text()), copy.site);
}

void named_barrier(Thread& thread, u32 id, u32 threads, bool wait, Site site) {
  const char* instruction = wait ? "bar.sync" : "bar.arrive";
  if (id > 15)
    fault(FaultKind::barrier_use, thread, id, site,
          fmt::format("{} {}: a block has barriers 0 to 15", instruction, id));
  if (threads == 0 || threads % 32 != 0 || threads > thread.cluster->settings().threads) {
    fault(FaultKind::barrier_use, thread, id, site,
          fmt::format("{} {}, {}: the number of threads is a multiple of 32, at most the block's {}",
                      instruction, id, threads, thread.cluster->settings().threads));
  }
  Rendezvous& barrier = thread.block->named[id];
  if (barrier.arrived == 0) {
    barrier.expected = threads;
    barrier.site = site;
  } else if (barrier.expected != threads) {
    fault(FaultKind::disagreement, thread, id, site,
          fmt::format("{} {}, {}: the first to arrive, at {}, said {} threads", instruction, id, threads,
                      barrier.site.text(), barrier.expected));
  }
  barrier.gathered.join(thread.knowledge);
  thread.release();
  ++barrier.arrived;
  ++barrier.of_warp[thread.warp()];
  if (wait) barrier.waiting.push_back(&thread);
  const bool last = barrier.arrived == barrier.expected;
  if (last) {
    barrier.arrived = 0;
    for (Thread* other : barrier.waiting) {
      other->knowledge.join(barrier.gathered);
      if (other != &thread) thread.cluster->wake(*other);
    }
    barrier.waiting.clear();
    barrier.gathered = Knowledge();  // whoever uses it next learns nothing of this round
    need_whole_warps(thread, barrier, id, instruction, site);
  }
  if (!wait || last) return;
  thread.wait = {Wait::For::named_barrier, id, threads, 0, instruction, site};
  thread.cluster->suspend(thread);
}

void cluster_barrier_arrive(Thread& thread, bool release, Site site) {
  Rendezvous& barrier = thread.cluster->rendezvous();
  barrier.expected = static_cast<u32>(thread.cluster->blocks().size()) * thread.cluster->settings().threads;
  if (thread.cluster_arrivals != thread.cluster_waits)
    fault(FaultKind::barrier_use, thread, 0, site, "barrier.cluster.arrive twice without a wait between");
  ++thread.cluster_arrivals;
  barrier.site = site;
  if (release) {
    barrier.gathered.join(thread.knowledge);
    thread.release();
  } else if (!thread.at_init_fence.empty()) {
    barrier.gathered.join(thread.at_init_fence);
  }
  if (++barrier.arrived < barrier.expected) return;
  barrier.arrived = 0;
  barrier.released = barrier.gathered;  // a slow waiter must not learn what others bring to the next one
  ++barrier.generation;
  thread.cluster->wake(barrier.waiting);
}

void cluster_barrier_wait(Thread& thread, Site site) {
  Rendezvous& barrier = thread.cluster->rendezvous();
  if (thread.cluster_arrivals == thread.cluster_waits)
    fault(FaultKind::barrier_use, thread, 0, site, "barrier.cluster.wait without an arrive before it");
  ++thread.cluster_waits;
  if (barrier.generation < thread.cluster_arrivals) {
    barrier.waiting.push_back(&thread);
    thread.wait = {Wait::For::cluster_barrier, 0, thread.cluster_arrivals, 0, "barrier.cluster.wait", site};
    thread.cluster->suspend(thread);
  }
  thread.knowledge.join(barrier.released);
}

}  // namespace fp8twin::machine
