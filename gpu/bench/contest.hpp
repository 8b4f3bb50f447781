// Several launches of the same work, timed in turn: a card that warms or slows on the way does so for all of them.
//
//   round 1:  fill | ours     fill | cuBLASLt     fill | ...
//   round 2:  fill | ours     ...
//
// Before every run a buffer larger than the L2 cache is written (8 GB unless said otherwise), so that operands come from
// memory and the card has some two milliseconds to cool; the launch is queued while that goes on.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emulator/layout/integers.hpp"
#include "gpu/bench/kernel_times.hpp"
#include "gpu/bench/statistics.hpp"

namespace fp8twin::bench {

struct Contender {
  std::string name;
  std::function<void()> launch;
};

struct ContestResult {
  std::string name;
  Summary us;                        // of the sum of a launch's kernels
  std::vector<std::string> kernels;  // of one launch; with events: none
  std::string refusal;               // why it left the contest; its figures then count for nothing
};

class Contest {
 public:
  /// A buffer of `flush_bytes`, or of nine tenths of what is free if that is less.
  Contest(KernelTimer& timer, std::size_t flush_bytes = 8'000'000'000);

  /// One run of one contender: the buffer, then the launch.
  LaunchTime time_once(const std::function<void()>& launch);

  /// `rounds` rounds after one that is not counted. A contender whose launch throws leaves, with the reason.
  std::vector<ContestResult> run(std::span<const Contender> contenders, int rounds);

  std::size_t flush_bytes() const { return flush_.size(); }

 private:
  KernelTimer& timer_;
  Buffer<u8> flush_;
};

}  // namespace fp8twin::bench
