// Small kernels for the tests of the emulated SM90: a lambda as a kernel, run under every schedule, and what the checkers said of it.
//
//   expect_clean({.threads = 64}, [&] { ... });
//   expect_fault({.threads = 64}, FaultKind::race, "overwrites", [&] { ... });
//
// A kernel stores what it saw into the test's own variables, and the test checks them when the launch is over: no assertion runs
// on an emulated thread's small stack. One OS thread unless a test asks for more.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/machine/launch.hpp"
#include "emulator/ptx/vocabulary.hpp"
#include "tests/catch.hpp"

namespace fp8twin::test {

using machine::FaultKind;
using machine::Schedule;

struct Setup {
  u32 threads = 32, shared_bytes = 4096;
  machine::Dim grid{1, 1}, cluster{1, 1};
  machine::GlobalMemory* memory = nullptr;
  bool checks = true;
};

struct Turn {
  Schedule schedule;
  u64 seed;
};

/// The orderly schedules (mixed both ways), and a handful of random ones.
inline const std::vector<Turn>& every_turn() {
  static const std::vector<Turn> turns = [] {
    std::vector<Turn> all = {
        {Schedule::earliest, 0}, {Schedule::latest, 0}, {Schedule::mixed, 0}, {Schedule::mixed, 1}};
    for (u64 seed = 0; seed < 6; ++seed) all.push_back({Schedule::random, seed});
    return all;
  }();
  return turns;
}

inline machine::LaunchReport run(const Setup& setup, const std::function<void()>& kernel,
                                 Turn turn = {Schedule::random, 1}) {
  return machine::launch_threads(setup.grid, setup.cluster, setup.threads, setup.shared_bytes, kernel,
                                 {.schedule = turn.schedule,
                                  .seed = turn.seed,
                                  .checks = setup.checks,
                                  .threads = 1,
                                  .memory = setup.memory});
}

/// The Fault that the kernel ends with; nothing if it ends as it should.
inline std::optional<machine::Fault> fault_of(const Setup& setup, const std::function<void()>& kernel,
                                              Turn turn = {Schedule::random, 1}) {
  try {
    run(setup, kernel, turn);
  } catch (const machine::Fault& fault) {
    return fault;
  }
  return std::nullopt;
}

inline std::string turn_text(Turn turn) {
  constexpr const char* names[] = {"earliest", "latest", "mixed", "random"};
  return std::string(names[static_cast<int>(turn.schedule)]) + " " + std::to_string(turn.seed);
}

/// No report under any schedule; `check` looks at what each run left behind.
template <class Kernel>
void expect_clean(const Setup& setup, const Kernel& kernel, const std::function<void()>& check = {}) {
  for (const Turn turn : every_turn()) {
    INFO(turn_text(turn));
    const auto fault = fault_of(setup, kernel, turn);
    INFO((fault ? fault->what() : ""));
    REQUIRE(!fault);
    if (check) check();
  }
}

/// Under every schedule the same kind of report, with `text` in its sentence, at a line of a test.
template <class Kernel>
void expect_fault(const Setup& setup, FaultKind kind, const std::string& text, const Kernel& kernel) {
  for (const Turn turn : every_turn()) {
    INFO(turn_text(turn));
    const auto fault = fault_of(setup, kernel, turn);
    REQUIRE(fault);
    INFO(fault->what());
    CHECK(machine::fault_name(fault->kind) == machine::fault_name(kind));
    CHECK_THAT(fault->what(), contains_text(text));
    CHECK_THAT(fault->what(), contains_text("tests/"));
  }
}

/// Thread 0's barrier at `address`, seen by all threads of the block and by the async proxy.
inline void shared_mbarrier(u32 address, u32 count, u32 threads) {
  if (tid_x() == 0) {
    mbarrier_init_b64(address, count);
    fence_mbarrier_init_release_cluster();
  }
  bar_sync(0, threads);
}

inline void wait_for(u32 barrier, u32 parity, machine::Site site = machine::Site::here()) {
  while (!mbarrier_try_wait_parity_b64(barrier, parity, site)) {
  }
}

}  // namespace fp8twin::test
