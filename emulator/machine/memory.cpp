// Ordinary loads and stores, and stmatrix: the generic proxy. See operations.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/machine/operations.hpp"

namespace fp8twin::machine {

std::string_view fault_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out of bounds";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::uninitialised:
      return "uninitialised";
    case FaultKind::race:
      return "race";
    case FaultKind::missing_proxy_fence:
      return "missing proxy fence";
    case FaultKind::accumulator_in_flight:
      return "accumulator in flight";
    case FaultKind::missing_wgmma_fence:
      return "missing wgmma fence";
    case FaultKind::transaction_count:
      return "transaction count";
    case FaultKind::barrier_use:
      return "barrier use";
    case FaultKind::disagreement:
      return "disagreement";
    case FaultKind::descriptor:
      return "descriptor";
    case FaultKind::unfinished:
      return "unfinished";
    case FaultKind::deadlock:
      return "deadlock";
  }
  return "";
}

std::string Actor::text() const {
  return fmt::format("{}: thread {} of block ({},{}): {}", site.text(), thread, block_x, block_y,
                     instruction);
}

std::string Thread::name() const {
  return fmt::format("thread {} of block ({},{})", tid, block->x, block->y);
}

Actor Thread::actor(const char* instruction, Site site) {
  return {instruction, site, static_cast<int>(tid), block->x, block->y, {component, epoch},
          &knowledge,  false};
}

u32 map_shared(Thread& thread, u32 address, u32 rank, Site site) {
  if (rank >= thread.cluster->blocks().size()) {
    throw Fault(FaultKind::out_of_bounds, site, static_cast<int>(thread.tid), address,
                fmt::format("{}: mapa to rank {} in a cluster of {}", thread.actor("mapa", site).text(), rank,
                            thread.cluster->blocks().size()));
  }
  constexpr u32 shift = SharedMemory::rank_shift;
  return rank << shift | (address & ((1u << shift) - 1));
}

/// A loop around a load waits for somebody's store: let others go first now and then, and end when it cannot.
void count_load(Thread& thread, const char* instruction, Site site) {
  constexpr u64 turn = 4096, most = u64{1} << 26;
  if (++thread.loads % turn != 0) return;
  if (thread.loads > most) {
    throw Fault(
        FaultKind::deadlock, site, static_cast<int>(thread.tid), 0,
        fmt::format(
            "{}: {} loads without a wait: it spins on something that never comes, or that comes from a "
            "block that does not run beside this one",
            thread.actor(instruction, site).text(), thread.loads));
  }
  const u64 loads = thread.loads;
  thread.cluster->yield(thread);
  thread.loads = loads;
}

void load_shared(Thread& thread, const char* instruction, u32 address, void* to, u32 bytes, Site site) {
  const Actor actor = thread.actor(instruction, site);
  SharedMemory& shared = thread.block->shared;
  shared.need(actor, address, bytes, bytes);
  shared.read(actor, address, bytes);
  if (thread.cluster->checks())
    thread.block->banks.count(thread.warp(), thread.lane(), instruction, site, address, bytes);
  std::memcpy(to, shared.data(address), bytes);
  count_load(thread, instruction, site);
}

void store_shared(Thread& thread, const char* instruction, u32 address, const void* from, u32 bytes,
                  Site site) {
  const Actor actor = thread.actor(instruction, site);
  SharedMemory& shared = thread.block->shared;
  shared.need(actor, address, bytes, bytes);
  shared.write(actor, address, bytes);
  if (thread.cluster->checks())
    thread.block->banks.count(thread.warp(), thread.lane(), instruction, site, address, bytes);
  std::memcpy(shared.data(address), from, bytes);
}

void load_global(Thread& thread, const char* instruction, const void* address, void* to, u32 bytes,
                 Site site) {
  if (const GlobalMemory* memory = thread.cluster->memory())
    memory->need_readable(thread.actor(instruction, site), reinterpret_cast<u64>(address), bytes, bytes);
  std::memcpy(to, address, bytes);
  count_load(thread, instruction, site);
}

void store_global(Thread& thread, const char* instruction, void* address, const void* from, u32 bytes,
                  Site site) {
  if (GlobalMemory* memory = thread.cluster->memory()) {
    memory->write(thread.actor(instruction, site), reinterpret_cast<u64>(address), bytes, bytes,
                  thread.block->linear * 1024 + thread.tid);
  }
  std::memcpy(address, from, bytes);
}

void store_matrices(Thread& thread, u32 count, bool transposed, u32 address, const u32* registers,
                    Site site) {
  constexpr const char* instruction = "stmatrix";
  if (32 * thread.warp() + 32 > thread.cluster->settings().threads) {
    throw Fault(FaultKind::disagreement, site, static_cast<int>(thread.tid), address,
                fmt::format("{}: a whole warp is needed, and the block has {} threads",
                            thread.actor(instruction, site).text(), thread.cluster->settings().threads));
  }
  std::array<u32, 5> mine{};
  mine[0] = address;
  for (u32 i = 0; i < count; ++i) mine[1 + i] = registers[i];
  warp_collective(
      thread, instruction, count * 2 + transposed, mine, false,
      [&](const WarpCollective& warp) {
        Block& block = *thread.block;
        for (u32 matrix = 0; matrix < count; ++matrix) {
          u32 rows[8];
          for (u32 row = 0; row < 8; ++row) {
            rows[row] = warp.value[8 * matrix + row][0];  // lanes 8i to 8i+7 give the rows of matrix i
            Thread& owner = *block.threads[32 * thread.warp() + 8 * matrix + row];
            block.shared.need(owner.actor(instruction, site), rows[row], 16, 16);
          }
          const auto reg = [&](u32 lane) { return warp.value[lane][1 + matrix]; };
          for (u32 row = 0; row < 8; ++row) {
            for (u32 pair = 0; pair < 4; ++pair) {  // columns 2 pair and 2 pair + 1
              u32 lane = 4 * row + pair, word = reg(lane);
              if (transposed) {  // two lanes bring one half each; the one remembered as the writer changes with the row
                const u32 first = 8 * pair + row / 2, second = first + 4, shift = 16 * (row % 2);
                word = (reg(first) >> shift & 0xffff) | reg(second) >> shift << 16;
                lane = row % 2 ? second : first;
              }
              Thread& holder = *block.threads[32 * thread.warp() + lane];
              block.shared.write(holder.actor(instruction, site), rows[row] + 4 * pair, 4);
              std::memcpy(block.shared.data(rows[row] + 4 * pair), &word, 4);
            }
          }
          if (thread.cluster->checks()) block.banks.count_whole(instruction, site, rows, 8, 16);
        }
      },
      site);
}

void need_full_mask(Thread& thread, const char* instruction, u32 mask, Site site) {
  if (mask == 0xffffffffu) return;
  throw Fault(FaultKind::disagreement, site, static_cast<int>(thread.tid), 0,
              fmt::format("{} with the mask 0x{:08x}: only whole warps (0xffffffff) are modelled",
                          thread.actor(instruction, site).text(), mask));
}

const std::array<std::array<u32, 5>, 32>& warp_collective(
    Thread& thread, const char* instruction, u64 argument, const std::array<u32, 5>& value,
    bool orders_memory, const std::function<void(const WarpCollective&)>& act, Site site) {
  // These two may stand on different lines of a branch; the others are .aligned: the whole warp at one of them.
  const bool anywhere =
      std::string_view(instruction) == "bar.warp.sync" || std::string_view(instruction) == "shfl.sync.idx";
  WarpCollective& warp = thread.block->collectives[thread.warp()][thread.warp_collectives++ % 2];
  if (warp.arrived == 0) {
    warp.instruction = instruction;
    warp.site = site;
    warp.argument = argument;
    warp.first_lane = thread.lane();
  } else if (warp.instruction != instruction || (!anywhere && !(warp.site == site)) ||
             warp.argument != argument) {
    throw Fault(FaultKind::disagreement, site, static_cast<int>(thread.tid), 0,
                fmt::format("{}: lane {} of the warp is at {}, {}, or brings another operand: all 32 lanes "
                            "must execute the same",
                            thread.actor(instruction, site).text(), warp.first_lane, warp.instruction,
                            warp.site.text()));
  }
  warp.value[thread.lane()] = value;
  const u32 lanes = std::min(32u, thread.cluster->settings().threads - 32 * thread.warp());
  if (++warp.arrived < lanes) {
    warp.waiting.push_back(&thread);
    thread.wait = {Wait::For::warp, warp.arrived, lanes, 0, instruction, site};
    thread.cluster->suspend(thread);
    return warp.value;
  }
  warp.arrived = 0;
  if (act) act(warp);
  if (orders_memory) {
    Knowledge together = thread.knowledge;
    for (const Thread* other : warp.waiting) together.join(other->knowledge);
    thread.knowledge.join(together);
    thread.release();
    for (Thread* other : warp.waiting) {
      other->knowledge.join(together);
      other->release();
    }
  }
  thread.cluster->wake(warp.waiting);
  return warp.value;
}

}  // namespace fp8twin::machine
