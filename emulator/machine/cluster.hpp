// A cluster of blocks at work on one OS thread: its emulated threads, what is in flight, and who goes next.
//
//   ready threads run one at a time, until they wait; then the next one
//   a copy or a group of wgmma lands when the schedule says so, and at the latest when no thread is ready
//   nobody ready and nothing in flight: a deadlock, reported with who waits for what
//
//   schedule    copies land          wgmma executes       threads take turns
//   earliest    at the next switch   at the next switch   in order
//   latest      when all wait        when all wait        in order
//   mixed       one of the two early, the other late (by the seed)
//   random      by the seed          by the seed          by the seed
//
// Every choice comes from the seed, so a run repeats exactly. Arithmetic and copies run on the OS thread's own stack.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/layout/tensor_map.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/global_memory.hpp"

namespace fp8twin::machine {

enum class Schedule { earliest, latest, mixed, random };

struct Dim {
  u32 x = 1, y = 1;
};

/// A bulk tensor copy that has been issued and has not landed.
struct TensorCopy {
  TensorMapDescription map;
  i32 at[3] = {0, 0, 0};
  bool store = false, add = false;  // add: a store that adds to what is there
  u32 shared = 0;                   // address in each block of `blocks`
  std::vector<Block*> blocks;
  u32 barrier = 0;  // loads: address in each block
  Thread* thread = nullptr;
  u32 store_number = 0;  // stores: of the thread's, counted from 1
  Site site;
};

struct ClusterSettings {
  Schedule schedule = Schedule::random;
  u64 seed = 1;
  bool checks = true;
  GlobalMemory* memory = nullptr;  // nullptr: global accesses go unchecked
  Dim grid, cluster;
  u32 threads = 128;     // of each block
  u32 shared_bytes = 0;  // of each block
};

class Cluster {
 public:
  /// Blocks ctaid (x0 .. x0 + cluster.x - 1, y0 .. ).
  Cluster(const ClusterSettings& settings, u32 x0, u32 y0);

  /// Runs `kernel` in every thread of every block. Throws the first Fault; the threads are then unwound.
  void run(const std::function<void()>& kernel);

  bool checks() const { return settings_.checks; }
  const ClusterSettings& settings() const { return settings_; }
  GlobalMemory* memory() const { return settings_.memory; }
  std::vector<std::unique_ptr<Block>>& blocks() { return blocks_; }
  Rendezvous& rendezvous() { return rendezvous_; }

  /// Stands still until wake(); `thread.wait` says why. Called on the thread's own stack.
  void suspend(Thread& thread);
  void wake(Thread& thread);
  void wake(std::vector<Thread*>& threads);
  /// Lets the others go first.
  void yield(Thread& thread);
  /// Lets another thread go first, if the schedule is random and says so.
  void maybe_yield(Thread& thread);

  u32 new_component(Site site);
  void issue(TensorCopy copy) { copies_.push_back(std::move(copy)); }

 private:
  struct Abort {};  // unwinds a thread after another one's fault
  static void enter(void* thread);
  void loop();
  void unwind();
  Fiber& next();
  bool should_land();
  bool land_one(bool copies, bool wgmma);
  bool land_copy();
  bool execute_wgmma();
  u64 random(u64 bound);
  [[noreturn]] void deadlock() const;
  void need_finished() const;

  ClusterSettings settings_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Thread*> ready_;  // a ring in the orderly schedules
  std::size_t ready_head_ = 0;
  std::deque<TensorCopy> copies_;
  Rendezvous rendezvous_;
  Fiber* home_ = nullptr;
  const std::function<void()>* kernel_ = nullptr;
  std::exception_ptr fault_;
  bool aborting_ = false;
  u32 live_ = 0, components_ = 0, max_components_ = 0;
  u64 random_state_ = 0;
};

/// Performs a copy: moves the bytes, and for a load counts them on the mbarriers.
void land(TensorCopy& copy);

}  // namespace fp8twin::machine
