// Who waits for what, in words: the report of a deadlock. And setmaxnreg, the one wait for something that is no barrier.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "emulator/machine/operations.hpp"

namespace fp8twin::machine {
namespace {

std::string mbarrier_text(const Block& block, const Wait& wait) {
  for (const auto& barrier : block.mbarriers) {
    if (barrier->address != wait.address) continue;
    return fmt::format(
        "the mbarrier at shared 0x{:x}, parity {} (phase {}: {} of {} arrivals missing, {} bytes "
        "outstanding)",
        wait.address, wait.value, barrier->phase, barrier->pending, barrier->count, barrier->bytes);
  }
  return fmt::format("the mbarrier at shared 0x{:x}", wait.address);
}

std::string wait_text(const Thread& thread) {
  const Wait& wait = thread.wait;
  const Block& block = *thread.block;
  const auto came = [&] {  // by now, not when this lane came
    const auto& collectives = block.collectives[thread.warp()];
    return std::max(collectives[0].arrived, collectives[1].arrived);
  };
  switch (wait.what) {
    case Wait::For::mbarrier:
      return mbarrier_text(block, wait);
    case Wait::For::named_barrier:
      return fmt::format("barrier {} ({} of {} threads have arrived)", wait.address,
                         block.named[wait.address].arrived, wait.value);
    case Wait::For::cluster_barrier:
      return "the other blocks of the cluster";
    case Wait::For::warp:
      return fmt::format("the other lanes of warp {} ({} of {} came)", thread.warp(), came(), wait.value);
    case Wait::For::wgmma:
      return fmt::format(
          "wgmma instruction {} of its warpgroup, which all 128 threads must execute ({} have been by "
          "all)",
          wait.value, block.wgmma[thread.warpgroup()]->posted());
    case Wait::For::bulk_group:
      return "its bulk stores";
    case Wait::For::registers:
      return fmt::format("registers: {} for each thread of its warpgroup", wait.value);
    case Wait::For::nothing:
      break;
  }
  return "nothing known";
}

}  // namespace

void Cluster::deadlock() const {
  // Threads that wait alike are told in one line, by the first and their number.
  std::map<std::string, std::pair<const Thread*, u32>> waits;
  const Thread* first = nullptr;
  for (const auto& block : blocks_) {
    for (const auto& thread : block->threads) {
      if (thread->done) continue;
      if (!first) first = thread.get();
      const std::string text = fmt::format("at {}: {} for {}", thread->wait.site.text(),
                                           thread->wait.instruction, wait_text(*thread));
      auto& [who, count] = waits[fmt::format("{}/{}", block->rank, text)];
      if (count++ == 0) who = thread.get();
    }
  }
  std::string report;
  for (const auto& [key, entry] : waits) {
    const std::string text = key.substr(key.find('/') + 1);
    report += fmt::format("\n  {}{} waits {}", entry.first->name(),
                          entry.second > 1 ? fmt::format(" (and {} like it)", entry.second - 1) : "", text);
  }
  throw Fault(FaultKind::deadlock, first->wait.site, static_cast<int>(first->tid), first->wait.address,
              fmt::format("deadlock: no thread can go on and nothing is in flight:{}", report));
}

void set_max_registers(Thread& thread, u32 registers, bool increase, Site site) {
  const char* instruction = increase ? "setmaxnreg.inc" : "setmaxnreg.dec";
  Block& block = *thread.block;
  if (registers < 24 || registers > 256 || registers % 8 != 0) {
    throw Fault(FaultKind::barrier_use, site, static_cast<int>(thread.tid), 0,
                fmt::format("{}: {} registers: a multiple of 8 from 24 to 256 is needed",
                            thread.actor(instruction, site).text(), registers));
  }
  u32& own = block.warp_registers[thread.warp()];
  // At launch a warp has what ptxas chose, which is not known here: up to `own`.
  const bool known = block.registers_known[thread.warp()];
  if (increase ? registers < own && known : registers > own) {
    throw Fault(FaultKind::barrier_use, site, static_cast<int>(thread.tid), 0,
                fmt::format("{} to {} registers, but the warp has {}", thread.actor(instruction, site).text(),
                            registers, own));
  }
  warp_collective(thread, instruction, registers, {}, false, {}, site);
  if (thread.lane() == 0) block.register_history[thread.warp()].push_back({registers, site});
  const auto used = [&] {
    return std::accumulate(block.warp_registers.begin(), block.warp_registers.end(), 0u) * 32;
  };
  while (increase && used() + (registers - own) * 32 > 65536 && own < registers) {
    thread.wait = {Wait::For::registers, 0, registers, 0, instruction, site};
    block.register_waiters.push_back(&thread);
    thread.cluster->suspend(thread);
  }
  own = registers;  // the first lane to pass changes it for its warp
  block.registers_known[thread.warp()] = true;
  if (!increase) thread.cluster->wake(block.register_waiters);
}

}  // namespace fp8twin::machine
