#include "emulator/machine/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace fp8twin::machine {
namespace {

thread_local Thread* current = nullptr;

/// Components for mbarriers, wgmma units and bulk stores, of each block.
constexpr u32 asynchronous_components = 160;

}  // namespace

// Not inline: a compiler may keep the address of a thread-local variable across a switch of stacks.
[[gnu::noinline]] Thread& self() { return *current; }

Cluster::Cluster(const ClusterSettings& settings, u32 x0, u32 y0) : settings_(settings) {
  random_state_ = settings.seed * 0x9e3779b97f4a7c15u + (u64{y0} << 32 | x0);
  const u32 size = settings.cluster.x * settings.cluster.y;
  max_components_ = size * (settings.threads + asynchronous_components);
  components_ = size * settings.threads;
  for (u32 rank = 0; rank < size; ++rank) {
    auto block = std::make_unique<Block>();
    block->cluster = this;
    block->rank = rank;
    block->x = x0 + rank % settings.cluster.x;
    block->y = y0 + rank / settings.cluster.x;
    block->linear = block->y * settings.grid.x + block->x;
    block->shared.reset(rank, settings.shared_bytes, settings.checks);
    block->live_threads = settings.threads;
    const u32 warps = (settings.threads + 31) / 32;
    block->collectives.resize(warps);
    block->banks.reset(warps);
    // What the compiler can give each thread of so many: all of the 64 K registers, in steps of 8.
    block->warp_registers.assign(warps, std::min(65536 / (warps * 32) / 8 * 8, 255u));
    block->registers_known.assign(warps, false);
    block->register_history.resize(warps);
    for (Rendezvous& barrier : block->named) barrier.gathered = Knowledge(max_components_);
    for (u32 tid = 0; tid < settings.threads; ++tid) {
      auto thread = std::make_unique<Thread>();
      thread->cluster = this;
      thread->block = block.get();
      thread->tid = tid;
      thread->component = rank * settings.threads + tid;
      thread->knowledge = Knowledge(max_components_);
      thread->knowledge.advance({thread->component, thread->epoch});
      block->threads.push_back(std::move(thread));
    }
    for (u32 group = 0; group < settings.threads / 128; ++group)
      block->wgmma.push_back(std::make_unique<WgmmaUnit>(*block, group, new_component({})));
    blocks_.push_back(std::move(block));
  }
  rendezvous_.gathered = Knowledge(max_components_);
}

u32 Cluster::new_component(Site site) {
  if (components_ == max_components_) {
    throw Fault(
        FaultKind::barrier_use, site, -1, 0,
        fmt::format("{}: more than {} mbarriers and threads with bulk stores in a block are not modelled",
                    site.text(), asynchronous_components));
  }
  return components_++;
}

u64 Cluster::random(u64 bound) {
  random_state_ = random_state_ * 6364136223846793005u + 1442695040888963407u;
  return (random_state_ >> 33) % bound;
}

namespace {

/// A thread must not end before its bulk stores have read shared memory, even if they happen to have done so.
void need_no_stores(const Thread& thread) {
  const BulkStores& bulk = thread.bulk;
  if (bulk.waited == bulk.issued) return;
  throw Fault(
      FaultKind::unfinished, bulk.site, static_cast<int>(thread.tid), 0,
      fmt::format("{}: {} ends without waiting for its bulk stores, which may still read shared memory: "
                  "cp.async.bulk.wait_group is needed",
                  bulk.site.text(), thread.name()));
}

/// A thread must not end before its wgmma have read shared memory, even if they happen to have done so.
void need_no_wgmma(const Thread& thread) {
  if (thread.wgmma_waited == thread.wgmma_issued) return;
  throw Fault(
      FaultKind::unfinished, thread.wgmma_site, static_cast<int>(thread.tid), 0,
      fmt::format("{}: {} ends without waiting for its wgmma operations, which may still read shared memory: "
                  "wgmma.commit_group and wgmma.wait_group are needed",
                  thread.wgmma_site.text(), thread.name()));
}

/// The last copy into a block must be waited for by one of its threads, even if it happens to have landed.
void need_waited_for(const Block& block, const MBarrier& barrier) {
  const auto knows = [&](const auto& thread) { return thread->knowledge.knows(barrier.last_copy); };
  if (std::any_of(block.threads.begin(), block.threads.end(), knows)) return;
  throw Fault(
      FaultKind::unfinished, barrier.copy_site, -1, barrier.address,
      fmt::format("{}: block ({},{}) ends, and none of its threads has waited at the mbarrier at shared "
                  "0x{:x} for this copy, which may still write shared memory",
                  barrier.copy_site.text(), block.x, block.y, barrier.address));
}

/// The four warps of a warpgroup change their registers together.
void need_equal_registers(const Block& block) {
  for (std::size_t warp = 0; warp < block.register_history.size(); ++warp) {
    const auto &own = block.register_history[warp], &first = block.register_history[warp / 4 * 4];
    const bool same = std::equal(own.begin(), own.end(), first.begin(), first.end(),
                                 [](const auto& a, const auto& b) { return a.registers == b.registers; });
    if (same) continue;
    const Site site = own.size() > first.size() ? own.back().site : first.back().site;
    throw Fault(
        FaultKind::disagreement, site, static_cast<int>(32 * warp), 0,
        fmt::format(
            "{}: setmaxnreg: warps {} and {} of block ({},{}) changed their registers differently; all "
            "four warps of a warpgroup must execute the same",
            site.text(), warp / 4 * 4, warp, block.x, block.y));
  }
}

/// A block must not end before it knows that the other blocks of its cluster are done with its barriers.
void need_remote_arrivals(const Block& block, const MBarrier& barrier) {
  for (const MBarrier::RemoteArrival& arrival : barrier.remote) {
    const auto knows = [&](const auto& thread) { return thread->knowledge.knows(arrival.event); };
    if (std::any_of(block.threads.begin(), block.threads.end(), knows)) continue;
    throw Fault(
        FaultKind::unfinished, arrival.site, -1, barrier.address,
        fmt::format("{}: block ({},{}) may end before this arrival at its mbarrier at shared 0x{:x}: a "
                    "barrier.cluster is needed before it ends, or a wait for that phase",
                    arrival.site.text(), block.x, block.y, barrier.address));
  }
}

}  // namespace

// --- threads ---------------------------------------------------------------------------------------

void Cluster::enter(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  Cluster& cluster = *thread.cluster;
  if (!cluster.aborting_) {
    try {
      (*cluster.kernel_)();
      if (cluster.checks()) need_no_stores(thread);
    } catch (const Abort&) {
    } catch (...) {
      if (!cluster.fault_) cluster.fault_ = std::current_exception();
    }
  }
  thread.done = true;
  --thread.block->live_threads;
  --cluster.live_;
}

void Cluster::run(const std::function<void()>& kernel) {
  Fiber home;
  home_ = &home;
  kernel_ = &kernel;
  for (auto& block : blocks_) {
    for (auto& thread : block->threads) {
      thread->fiber = std::make_unique<Fiber>(&Cluster::enter, thread.get(), home);
      ready_.push_back(thread.get());
      ++live_;
    }
  }
  Thread* const before = std::exchange(current, nullptr);
  try {
    loop();
  } catch (...) {
    if (!fault_) fault_ = std::current_exception();
  }
  if (fault_) unwind();
  current = before;
  for (auto& block : blocks_) {
    for (auto& thread : block->threads) thread->fiber.reset();
  }
  home_ = nullptr;
  if (fault_) std::rethrow_exception(fault_);
}

void Cluster::loop() {
  while (live_ > 0) {
    if (should_land()) continue;
    if (ready_head_ < ready_.size()) {
      Fiber::jump(*home_, next());
    } else if (!land_one(true, true)) {
      deadlock();
    }
    if (fault_) return;
  }
  if (settings_.checks) need_finished();
  while (land_one(true, true)) {
  }
}

/// Wakes whoever still stands: each throws Abort where it stands, so that its stack ends in order.
void Cluster::unwind() {
  aborting_ = true;
  for (auto& block : blocks_) {
    for (auto& thread : block->threads) {
      if (thread->done) continue;
      current = thread.get();
      Fiber::jump(*home_, *thread->fiber);
    }
  }
}

Fiber& Cluster::next() {
  std::size_t pick = ready_head_;
  if (settings_.schedule == Schedule::random) {
    pick += random(ready_.size() - ready_head_);
    std::swap(ready_[ready_head_], ready_[pick]);
    pick = ready_head_;
  }
  Thread* thread = ready_[pick];
  if (++ready_head_ == ready_.size()) {
    ready_.clear();
    ready_head_ = 0;
  }
  current = thread;
  return *thread->fiber;
}

void Cluster::suspend(Thread& thread) {
  // Only `latest` lands nothing between two threads; the others ask the home stack first.
  const bool to_thread = ready_head_ < ready_.size() && settings_.schedule == Schedule::latest;
  Fiber::jump(*thread.fiber, to_thread ? next() : *home_);
  current = &thread;
  if (aborting_) throw Abort{};
  thread.loads = 0;
  thread.wait = {};
}

void Cluster::wake(Thread& thread) {
  if (ready_head_ > 1024) {
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(ready_head_));
    ready_head_ = 0;
  }
  ready_.push_back(&thread);
}

void Cluster::wake(std::vector<Thread*>& threads) {
  for (Thread* thread : threads) wake(*thread);
  threads.clear();
}

void Cluster::yield(Thread& thread) {
  wake(thread);
  suspend(thread);
}

void Cluster::maybe_yield(Thread& thread) {
  if (settings_.schedule == Schedule::random && random(8) == 0) yield(thread);
}

// --- what is in flight -----------------------------------------------------------------------------

/// Lands one thing before its time, if the schedule wants that. True if it did.
bool Cluster::should_land() {
  switch (settings_.schedule) {
    case Schedule::latest:
      return false;
    case Schedule::earliest:
      return land_one(true, true);
    case Schedule::mixed:
      return settings_.seed % 2 ? land_one(true, false) : land_one(false, true);
    case Schedule::random:
      return random(4) == 0 && land_one(true, true);
  }
  return false;
}

bool Cluster::land_one(bool copies, bool wgmma) {
  if (copies && wgmma && settings_.schedule == Schedule::random && random(2) == 0)
    return execute_wgmma() || land_copy();
  return (copies && land_copy()) || (wgmma && execute_wgmma());
}

bool Cluster::land_copy() {
  if (copies_.empty()) return false;
  std::size_t pick = settings_.schedule == Schedule::random ? random(copies_.size()) : 0;
  // A thread's stores complete in order: the first of them stands for a later one.
  while (copies_[pick].store && copies_[pick].store_number != copies_[pick].thread->bulk.landed + 1) --pick;
  TensorCopy copy = std::move(copies_[pick]);
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(pick));
  land(copy);
  return true;
}

bool Cluster::execute_wgmma() {
  std::vector<std::pair<Block*, std::size_t>> pending;
  for (auto& block : blocks_) {
    for (std::size_t group = 0; group < block->wgmma.size(); ++group) {
      if (block->wgmma[group]->has_pending()) pending.emplace_back(block.get(), group);
    }
  }
  if (pending.empty()) return false;
  const auto [block, group] = pending[settings_.schedule == Schedule::random ? random(pending.size()) : 0];
  block->wgmma[group]->execute_next();
  const u32 executed = block->wgmma[group]->executed();
  for (u32 i = 0; i < 128; ++i) {
    Thread& thread = *block->threads[group * 128 + i];
    if (!thread.done && thread.wait.what == Wait::For::wgmma && thread.wait.value == executed) wake(thread);
  }
  return true;
}

/// A block must not end while anything of it is in flight: its shared memory goes to the next one.
void Cluster::need_finished() const {
  if (!copies_.empty()) {
    const TensorCopy& copy = copies_.front();
    throw Fault(
        FaultKind::unfinished, copy.site, static_cast<int>(copy.thread->tid), copy.shared,
        fmt::format("{}: {}: the block ends while this copy is in flight: wait for {}", copy.site.text(),
                    copy.thread->name(), copy.store ? "its bulk group" : "its mbarrier"));
  }
  for (const auto& block : blocks_) {
    for (const auto& barrier : block->mbarriers) {
      need_waited_for(*block, *barrier);
      need_remote_arrivals(*block, *barrier);
    }
    for (const auto& thread : block->threads) need_no_wgmma(*thread);
    need_equal_registers(*block);
  }
}

}  // namespace fp8twin::machine
