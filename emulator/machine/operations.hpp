// What the instructions of emulator/ptx do, thread by thread. One function for each thing the hardware does; emulator/ptx gives them
// the names of PTX.
#pragma once

#include "emulator/layout/tensor_map.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"

namespace fp8twin::machine {

// --- shared addresses ------------------------------------------------------------------------------
// A shared address names its block by the rank in the top byte (SharedMemory).
u32 map_shared(Thread& thread, u32 address, u32 rank, Site site);

// --- ordinary loads and stores ---------------------------------------------------------------------
void load_shared(Thread& thread, const char* instruction, u32 address, void* to, u32 bytes, Site site);
void store_shared(Thread& thread, const char* instruction, u32 address, const void* from, u32 bytes,
                  Site site);
void load_global(Thread& thread, const char* instruction, const void* address, void* to, u32 bytes,
                 Site site);
void store_global(Thread& thread, const char* instruction, void* address, const void* from, u32 bytes,
                  Site site);
/// `count` 8x8 matrices of 16-bit elements, two elements of one row (or, transposed, of one column) in each lane's registers.
void store_matrices(Thread& thread, u32 count, bool transposed, u32 address, const u32* registers, Site site);

// --- barriers --------------------------------------------------------------------------------------
void mbarrier_init(Thread& thread, u32 address, u32 count, Site site);
/// The mbarriers of this block that the thread knows of become visible to the async proxy; nothing else does.
void mbarrier_init_fence(Thread& thread);
void mbarrier_inval(Thread& thread, u32 address, Site site);
/// `address` is in the thread's own block, unless `cluster` allows another one.
void mbarrier_arrive(Thread& thread, u32 address, u32 expect_bytes, bool cluster, const char* instruction,
                     Site site);
/// A load, or a question to a barrier, that a loop may ask for ever.
void count_load(Thread& thread, const char* instruction, Site site);
bool mbarrier_test_wait_parity(Thread& thread, u32 address, u32 parity, Site site);
bool mbarrier_try_wait_parity(Thread& thread, u32 address, u32 parity, Site site);
/// A copy has landed: `bytes` of it.
void mbarrier_complete(Block& block, u32 address, u32 bytes, const TensorCopy& copy);

void named_barrier(Thread& thread, u32 id, u32 threads, bool wait, Site site);
void cluster_barrier_arrive(Thread& thread, bool release, Site site);
void cluster_barrier_wait(Thread& thread, Site site);

/// All 32 lanes bring `value` and `argument` (equal in all); `act` runs once, when the last lane has come. Returns what all brought.
const std::array<std::array<u32, 5>, 32>& warp_collective(
    Thread& thread, const char* instruction, u64 argument, const std::array<u32, 5>& value,
    bool orders_memory, const std::function<void(const WarpCollective&)>& act, Site site);
/// elect.sync, shfl.sync, bar.warp.sync with fewer lanes are not modelled: refused.
void need_full_mask(Thread& thread, const char* instruction, u32 mask, Site site);
void set_max_registers(Thread& thread, u32 registers, bool increase, Site site);

// --- the tensor memory accelerator -----------------------------------------------------------------
/// Throws Error for what the driver would refuse.
TensorMap encode_tensor_map(const TensorMapDescription& description);
TensorMapDescription decode_tensor_map(const TensorMap& map);
void prefetch_tensor_map(Thread& thread, const TensorMap& map, Site site);
/// mask: the blocks of the cluster to write to, by rank.
void load_tensor(Thread& thread, u32 shared, const TensorMap& map, const i32 (&at)[3], u32 rank, u32 barrier,
                 u32 mask, Site site);
void store_tensor(Thread& thread, const TensorMap& map, const i32 (&at)[3], u32 rank, u32 shared, Site site);
/// The same, but adds (emulator/number/reduce_add.hpp): `map` must be one of FP32 elements.
void reduce_add_tensor(Thread& thread, const TensorMap& map, const i32 (&at)[3], u32 rank, u32 shared,
                       Site site);
void bulk_commit_group(Thread& thread);
void bulk_wait_group(Thread& thread, u32 pending_groups, const char* instruction, Site site);

// --- fences ----------------------------------------------------------------------------------------
inline void proxy_fence(Thread& thread) {
  thread.knowledge.proxy_fence();
  thread.release();
}

}  // namespace fp8twin::machine
