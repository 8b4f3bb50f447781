// TMA: bulk tensor copies between global and shared memory. See emulator/layout/tensor_map.hpp for the geometry.
//
// A load claims its bytes when it is issued (whoever still reads them is caught there) and writes them when it lands; a store reads
// them when it lands, and whoever writes them before is caught; a reduction is a store that adds. Loads complete on an mbarrier,
// stores in the thread's bulk groups.
// What the driver refuses to encode and what an H200 answers with an illegal instruction, this refuses in words.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/machine/operations.hpp"
#include "emulator/number/reduce_add.hpp"

namespace fp8twin::machine {
namespace {

constexpr const char *plain = "cp.async.bulk.tensor", *reducing = "cp.reduce.async.bulk.tensor";
constexpr u64 magic = 0x70616d6e6574u;  // no map of the driver begins like this

[[noreturn]] void fault(FaultKind kind, Thread& thread, const char* instruction, u32 address, Site site,
                        const std::string& what) {
  throw Fault(kind, site, static_cast<int>(thread.tid), address,
              fmt::format("{}: {}: {}: {}", site.text(), thread.name(), instruction, what));
}

const char* store_text(bool add) {
  return add ? "cp.reduce.async.bulk.tensor (add)" : "cp.async.bulk.tensor (store)";
}

const char* element_name(TensorElement element) {
  constexpr const char* names[] = {"8-bit elements", "16-bit integers", "32-bit integers", "BF16", "FP32"};
  return names[static_cast<u32>(element)];
}

/// Calls row(offset in shared memory, whether it is inside the tensor, its y and z) for each contiguous row of the box.
template <class Row>
void each_row(const TensorMapDescription& map, const i32 (&at)[3], const Row& row) {
  for (u32 z = 0; z < map.box[2]; ++z) {
    for (u32 y = 0; y < map.box[1]; ++y) {
      const i64 gy = i64{at[1]} + y, gz = i64{at[2]} + z;
      const bool inside =
          gy >= 0 && gz >= 0 && static_cast<u64>(gy) < map.size[1] && static_cast<u64>(gz) < map.size[2];
      row(box_offset(map, 0, y, z), inside, gy, gz);
    }
  }
}

/// Global address of element (x, y, z).
u64 element_address(const TensorMapDescription& map, i64 x, i64 y, i64 z) {
  return map.base + static_cast<u64>(x) * element_bytes(map.element) + static_cast<u64>(y) * map.stride[0] +
         static_cast<u64>(z) * map.stride[1];
}

TensorMapDescription read_map(Thread& thread, const char* instruction, const TensorMap& map, Site site) {
  if (map.word[0] != magic)
    fault(FaultKind::descriptor, thread, instruction, 0, site,
          "this is no tensor map: encode one on the host");
  return decode_tensor_map(map);
}

/// The first and last element that the box touches must lie in what the launch was given.
void need_global(Thread& thread, const char* instruction, const TensorMapDescription& map, const i32 (&at)[3],
                 Site site) {
  const GlobalMemory* memory = thread.cluster->memory();
  if (!memory) return;
  i64 low[3], high[3];
  for (int i = 0; i < 3; ++i) {
    low[i] = std::max<i64>(at[i], 0);
    high[i] = std::min<i64>(i64{at[i]} + map.box[i], static_cast<i64>(map.size[i]));
    if (low[i] >= high[i]) return;  // wholly outside: nothing is touched
  }
  const u64 first = element_address(map, low[0], low[1], low[2]);
  const u64 last = element_address(map, high[0] - 1, high[1] - 1, high[2] - 1) + element_bytes(map.element);
  memory->need_readable(thread.actor(instruction, site), first, last - first, 1);
}

void check_shared(Thread& thread, const char* instruction, const SharedMemory& shared,
                  const TensorMapDescription& map, u32 address, Site site) {
  shared.need(thread.actor(instruction, site), address, box_extent(map), 128);
}

/// What an H200 stops at with an illegal instruction, no kernel may rely on. (check_shared names the address.)
void check_begin(Thread& thread, const char* instruction, const TensorMapDescription& map, const i32 (&at)[3],
                 bool store, u32 address, Site site) {
  switch (copy_fault(map, {at[0], at[1], at[2]}, address, store)) {
    case CopyFault::x:
      fault(FaultKind::misaligned, thread, instruction, address, site,
            fmt::format("the box begins at x = {}, {} bytes into its row: no multiple of 16", at[0],
                        i64{at[0]} * element_bytes(map.element)));
    case CopyFault::negative: {
      const std::size_t i = at[0] < 0 ? 0 : at[1] < 0 ? 1 : 2;
      fault(FaultKind::out_of_bounds, thread, instruction, address, site,
            fmt::format(
                "a store of a box that begins at {} = {}, before the tensor: a load may, a store may not",
                "xyz"[i], at[i]));
    }
    case CopyFault::shared_address:
    case CopyFault::none:
      break;
  }
}

/// The swizzle moves whole 16-byte chunks: calls chunk(offset from the box's begin, shared address).
template <class Chunk>
void each_chunk(const TensorMapDescription& map, u32 shared, const Chunk& chunk) {
  const u32 row_bytes = map.box[0] * element_bytes(map.element), rows = map.box[1] * map.box[2];
  for (u32 row = 0; row < rows; ++row) {
    for (u32 k = 0; k < row_bytes; k += 16) {
      const u32 offset = row * box_row_pitch(map) + k;
      chunk(offset, swizzle(map.swizzle, shared + offset));
    }
  }
}

/// Calls piece(shared address, bytes) for what a copy touches: all in one piece, unless the box is narrower than its swizzle.
template <class Piece>
void each_piece(const TensorMapDescription& map, u32 shared, const Piece& piece) {
  if (box_extent(map) == box_bytes(map)) return piece(shared, box_bytes(map));
  each_chunk(map, shared, [&](u32, u32 address) { piece(address, 16); });
}

/// As the driver's encoder has it. Source: CUDA driver API, "cuTensorMapEncodeTiled".
void need_encodable(const TensorMapDescription& map) {
  const auto need = [](bool holds, const std::string& sentence) {
    if (!holds) throw Error("tensor map: " + sentence);
  };
  const u32 row_bytes = map.box[0] * element_bytes(map.element);
  need(map.rank >= 1 && map.rank <= 3, fmt::format("rank {}; 1 to 3 are modelled", map.rank));
  need(map.base % 16 == 0, fmt::format("global address 0x{:x} is no multiple of 16", map.base));
  for (u32 i = 0; i < map.rank; ++i) {
    need(map.size[i] >= 1 && map.size[i] <= u64{1} << 32,
         fmt::format("{} elements in dimension {}; 1 to 2^32 are needed", map.size[i], i));
    need(map.box[i] >= 1 && map.box[i] <= 256,
         fmt::format("a box of {} elements in dimension {}; 1 to 256 are needed", map.box[i], i));
    need(i == 0 || map.stride[i - 1] % 16 == 0,
         fmt::format("a stride of {} bytes in dimension {} is no multiple of 16", map.stride[i ? i - 1 : 0],
                     i));
  }
  for (u32 i = map.rank; i < 3; ++i)
    need(map.size[i] == 1 && map.box[i] == 1,
         fmt::format("rank {}, but dimension {} has {} elements and a box of {}", map.rank, i, map.size[i],
                     map.box[i]));
  need(row_bytes % 16 == 0,
       fmt::format("a box with rows of {} bytes; a multiple of 16 is needed", row_bytes));
  need(map.swizzle == SwizzleMode::none || row_bytes <= swizzle_width(map.swizzle),
       fmt::format("a box with rows of {} bytes under a swizzle of {} bytes; at most its width is needed",
                   row_bytes, swizzle_width(map.swizzle)));
}

}  // namespace

TensorMap encode_tensor_map(const TensorMapDescription& description) {
  static_assert(sizeof(TensorMapDescription) <= sizeof(TensorMap) - sizeof(u64));
  need_encodable(description);
  TensorMap map{};
  map.word[0] = magic;
  std::memcpy(map.word + 1, &description, sizeof description);
  return map;
}

TensorMapDescription decode_tensor_map(const TensorMap& map) {
  TensorMapDescription description;
  std::memcpy(static_cast<void*>(&description), map.word + 1, sizeof description);
  return description;
}

void prefetch_tensor_map(Thread& thread, const TensorMap& map, Site site) {
  read_map(thread, "prefetch.tensormap", map, site);
}

void load_tensor(Thread& thread, u32 shared, const TensorMap& opaque, const i32 (&at)[3], u32 rank,
                 u32 own_barrier, u32 mask, Site site) {
  Cluster& cluster = *thread.cluster;
  TensorCopy copy;
  copy.map = read_map(thread, plain, opaque, site);
  if (copy.map.rank != rank)
    fault(FaultKind::descriptor, thread, plain, shared, site,
          fmt::format("{}d with a tensor map of rank {}", rank, copy.map.rank));
  check_begin(thread, plain, copy.map, at, false, shared, site);
  std::copy_n(at, 3, copy.at);
  copy.shared = shared;
  copy.barrier = own_barrier;
  copy.thread = &thread;
  copy.site = site;
  if (mask == 0)
    fault(FaultKind::disagreement, thread, plain, shared, site,
          "multicast with a mask of 0: to no block at all");
  for (u32 r = 0; r < 16; ++r) {
    if (!(mask >> r & 1)) continue;
    if (r >= cluster.blocks().size())
      fault(FaultKind::out_of_bounds, thread, plain, shared, site,
            fmt::format("multicast to rank {} in a cluster of {}", r, cluster.blocks().size()));
    copy.blocks.push_back(cluster.blocks()[r].get());
  }
  need_global(thread, plain, copy.map, at, site);
  for (Block* block : copy.blocks) {
    const u32 at_shared = map_shared(thread, shared, block->rank, site),
              barrier = map_shared(thread, own_barrier, block->rank, site);
    if (block->live_threads == 0)
      fault(FaultKind::unfinished, thread, plain, shared, site,
            fmt::format("multicast to block ({},{}), which has ended", block->x, block->y));
    check_shared(thread, plain, block->shared, copy.map, at_shared, site);
    MBarrier* bar = block->mbarrier(barrier);
    if (!bar || !bar->live) {
      fault(FaultKind::barrier_use, thread, plain, barrier, site,
            fmt::format("no mbarrier was initialised at shared 0x{:x} of block ({},{})", barrier, block->x,
                        block->y));
    }
    if (cluster.checks() && !thread.knowledge.knows_fenced(bar->initialised)) {
      fault(FaultKind::missing_proxy_fence, thread, plain, barrier, site,
            fmt::format(
                "the mbarrier at shared 0x{:x} of block ({},{}) may not be there yet for the async proxy: "
                "fence.mbarrier_init (or fence.proxy.async) and a barrier are needed after mbarrier.init",
                barrier, block->x, block->y));
    }
    bar->in_flight += box_bytes(copy.map);
    bar->last_copy = bar->completion();
    bar->copy_site = site;
    Actor actor = thread.actor("cp.async.bulk.tensor (load)", site);
    actor.event = bar->completion();
    actor.async_proxy = true;
    actor.swizzle = copy.map.swizzle;
    each_piece(copy.map, at_shared, [&](u32 address, u32 bytes) {
      block->shared.write(actor, address, bytes);
      std::memset(block->shared.data(address), 0xff, bytes);  // what a read before the landing finds
    });
  }
  cluster.issue(std::move(copy));
  cluster.maybe_yield(thread);
}

namespace {

/// A store, or with `add` a reduction: all but what becomes of the bytes is the same.
void issue_store(Thread& thread, bool add, const TensorMap& opaque, const i32 (&at)[3], u32 rank, u32 shared,
                 Site site) {
  const char* const instruction = add ? reducing : plain;
  TensorCopy copy;
  copy.map = read_map(thread, instruction, opaque, site);
  if (copy.map.rank != rank)
    fault(FaultKind::descriptor, thread, instruction, shared, site,
          fmt::format("{}d with a tensor map of rank {}", rank, copy.map.rank));
  if (add && copy.map.element != TensorElement::f32)
    fault(FaultKind::descriptor, thread, instruction, shared, site,
          fmt::format("a tensor map of {}; only the sum of FP32 elements is modelled",
                      element_name(copy.map.element)));
  check_begin(thread, instruction, copy.map, at, true, shared, site);
  std::copy_n(at, 3, copy.at);
  copy.store = true;
  copy.add = add;
  copy.shared = shared;
  copy.blocks = {thread.block};
  copy.thread = &thread;
  copy.site = site;
  if (thread.bulk.component == 0) thread.bulk.component = thread.cluster->new_component(site);
  copy.store_number = ++thread.bulk.issued;
  thread.bulk.site = site;
  check_shared(thread, instruction, thread.block->shared, copy.map, shared, site);
  need_global(thread, instruction, copy.map, at, site);
  Actor actor = thread.actor(store_text(add), site);
  actor.event = {thread.bulk.component, copy.store_number};
  actor.async_proxy = true;
  each_piece(copy.map, shared,
             [&](u32 address, u32 bytes) { thread.block->shared.read(actor, address, bytes); });
  thread.cluster->issue(std::move(copy));
  thread.cluster->maybe_yield(thread);
}

}  // namespace

void store_tensor(Thread& thread, const TensorMap& map, const i32 (&at)[3], u32 rank, u32 shared, Site site) {
  issue_store(thread, false, map, at, rank, shared, site);
}

void reduce_add_tensor(Thread& thread, const TensorMap& map, const i32 (&at)[3], u32 rank, u32 shared,
                       Site site) {
  issue_store(thread, true, map, at, rank, shared, site);
}

namespace {

void land_load(const TensorCopy& copy) {
  const TensorMapDescription& map = copy.map;
  const u32 size = element_bytes(map.element);
  std::vector<u8> box(box_extent(map), 0);
  each_row(map, copy.at, [&](u32 offset, bool inside, i64 y, i64 z) {
    const i64 first = std::max<i64>(copy.at[0], 0);
    const i64 end = std::min<i64>(i64{copy.at[0]} + map.box[0], static_cast<i64>(map.size[0]));
    if (!inside || first >= end) return;
    std::memcpy(box.data() + offset + static_cast<u64>(first - copy.at[0]) * size,
                reinterpret_cast<const void*>(element_address(map, first, y, z)),
                static_cast<u64>(end - first) * size);
  });
  for (Block* block : copy.blocks) {
    // The window's top byte is above every bit that a swizzle looks at.
    const u32 window = block->rank << SharedMemory::rank_shift, low = (1u << SharedMemory::rank_shift) - 1;
    each_chunk(map, window | (copy.shared & low), [&](u32 offset, u32 address) {
      std::memcpy(block->shared.data(address), box.data() + offset, 16);
    });
    mbarrier_complete(*block, window | (copy.barrier & low), box_bytes(map), copy);
  }
}

/// Each of the FP32 elements at `to` plus the one at `from`.
void add_row(u8* to, const u8* from, u64 bytes) {
  for (u64 i = 0; i < bytes; i += sizeof(float)) {
    float memory, value;
    std::memcpy(&memory, to + i, sizeof memory);
    std::memcpy(&value, from + i, sizeof value);
    memory = reduce_add(memory, value);
    std::memcpy(to + i, &memory, sizeof memory);
  }
}

void land_store(const TensorCopy& copy) {
  const TensorMapDescription& map = copy.map;
  const u32 size = element_bytes(map.element);
  Thread& thread = *copy.thread;
  Block& block = *copy.blocks.front();
  std::vector<u8> box(box_extent(map));
  each_chunk(map, copy.shared, [&](u32 offset, u32 address) {
    std::memcpy(box.data() + offset, block.shared.data(address), 16);
  });
  each_row(map, copy.at, [&](u32 offset, bool inside, i64 y, i64 z) {
    const i64 first = std::max<i64>(copy.at[0], 0);
    const i64 end = std::min<i64>(i64{copy.at[0]} + map.box[0], static_cast<i64>(map.size[0]));
    if (!inside || first >= end) return;
    const u64 to = element_address(map, first, y, z), bytes = static_cast<u64>(end - first) * size;
    const u8* const from = box.data() + offset + static_cast<u64>(first - copy.at[0]) * size;
    if (GlobalMemory* memory = block.cluster->memory()) {
      const Actor actor = thread.actor(store_text(copy.add), copy.site);
      const u32 writer = block.linear * 1024 + thread.tid;
      copy.add ? memory->add_to(actor, to, bytes, size, writer)
               : memory->write(actor, to, bytes, size, writer);
    }
    if (copy.add) {
      add_row(reinterpret_cast<u8*>(to), from, bytes);
    } else {
      std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    }
  });
  ++thread.bulk.landed;
  if (!thread.done && thread.wait.what == Wait::For::bulk_group && thread.wait.value == thread.bulk.landed)
    block.cluster->wake(thread);
}

}  // namespace

void land(TensorCopy& copy) { copy.store ? land_store(copy) : land_load(copy); }

void bulk_commit_group(Thread& thread) { thread.bulk.group_ends.push_back(thread.bulk.issued); }

void bulk_wait_group(Thread& thread, u32 pending_groups, const char* instruction, Site site) {
  const std::size_t groups = thread.bulk.group_ends.size();
  const u32 target = pending_groups >= groups ? 0 : thread.bulk.group_ends[groups - 1 - pending_groups];
  if (thread.bulk.landed < target) {
    thread.wait = {Wait::For::bulk_group, 0, target, 0, instruction, site};
    thread.cluster->suspend(thread);
  }
  thread.bulk.waited = std::max(thread.bulk.waited, target);
  if (target > 0) thread.knowledge.learn({thread.bulk.component, target});
}

}  // namespace fp8twin::machine
