// What `verify` draws: 1d2d problems, and how each engine runs them. A pure function of the seed and the problem's number.
//
//   M, N/8, K/16     log-uniform in 1..4096, 1..512, 1..256: an octave first, then a number in it
//   distribution     adversarial for one problem in four, else any of `random`'s
//   output           bf16 and f32 in turn
//   configuration    machine, gpu: all that are offered, in an order of each engine's own, and again from the start
//   machine          a number of stages, a schedule and its seed, how many multiprocessors the persistent kernels fill
//
// A problem that costs more multiply-adds than it may is drawn smaller: the largest of M, N and K is
// halved, until it fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/engine/engine.hpp"
#include "emulator/model/distribution.hpp"

namespace fp8twin::cli {

struct Draw {
  std::int64_t m = 1, n = 8, k = 16;
  Distribution distribution = Distribution::normal;
  std::uint64_t seed = 1;
  DType output = DType::bf16;
  std::vector<RunOptions> runs;  // one for each engine

  std::int64_t macs() const { return m * n * k; }
};

inline constexpr std::int64_t least_macs = 8 * 16;  // of M = 1

class Drawer {
 public:
  /// `step`: of one kernel only.
  Drawer(std::uint64_t seed, std::vector<std::string> engines, std::optional<int> step);

  /// Problem number `index`, of at most `most_macs`, which is least_macs or more.
  Draw draw(std::int64_t index, std::int64_t most_macs) const;
  /// The configuration in which engine number `engine` runs problem number `index`.
  GemmConfig config(std::int64_t index, std::size_t engine) const;

 private:
  std::uint64_t seed_;
  std::vector<std::string> engines_;
  std::vector<std::vector<GemmConfig>> bf16_, f32_;  // of each engine, in its order
};

/// The commands that show what the engines make of this problem: random, one gemm for each engine, diff of the first
/// and engine number `other`.
std::vector<std::string> reproducer(const Draw& draw, const std::vector<std::string>& engines,
                                    std::size_t other);

}  // namespace fp8twin::cli
