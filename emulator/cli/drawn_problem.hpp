// One problem of `verify`: the words of a `fp8twin random` command, so that what engines are handed and what a reproducer
// writes are the same by construction.
//
//   half of the extents     log-uniform: an octave first, then a number in it      M to 4096, N and K to 4096
//   the others              at an edge: 1, a tile or two +-1 (64, 128, 256), K of 0, 1, 127, 128, 129; or any number
//   groups                  one, or 2 to 9; all empty in one case of eight; some empty, of one row, at an edge
//   contiguous              m_indices or group_ends; whole blocks of padding; the last group's padding cut off
//   masked                  Mmax is the largest count, one more, a little more
//   batched                 one, 2 to 7, now and then none
//   padding                 NaN codes and scales in a third of the cases, zeros in some
//
// A problem that costs more multiply-adds than it may is drawn smaller: the largest of its extents (of its groups, too) is
// halved, until the sum over its slices fits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/cli/problem_extents.hpp"
#include "emulator/model/distribution.hpp"
#include "emulator/support/random.hpp"

namespace fp8twin::cli {

/// The numbers of one stream, one after the other.
class Numbers {
 public:
  Numbers(std::uint64_t seed, std::uint64_t stream) : random_(seed, stream) {}
  /// In [0, bound), bound <= 2^32.
  std::uint32_t below(std::uint64_t bound) { return random_.below(next_++, bound); }
  bool one_in(std::uint64_t bound) { return below(bound) == 0; }

  /// 1 to 2^octaves: one of the ranges {1}, {2}, {3, 4}, {5..8}, ... and a number of it.
  std::int64_t log_uniform(std::uint32_t octaves) {
    const std::uint32_t octave = below(octaves + 1);
    const std::uint32_t within = below(octave == 0 ? 1 : std::uint64_t{1} << (octave - 1));
    return (std::int64_t{1} << octave) - within;
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

/// A problem's form, by which engines say what they take.
struct Form {
  Kind kind = Kind::dense_1d2d;
  bool has_c = false;
  std::int64_t b_scale_rows = 128;  // or 1

  /// 1d2d without c, which every kernel takes.
  bool plain() const { return kind == Kind::dense_1d2d && !has_c; }
  friend bool operator==(const Form&, const Form&) = default;
};

/// Every form that can be drawn: of each kind but wgmma.
std::vector<Form> all_forms();

struct DrawnProblem {
  Form form;
  std::vector<std::int64_t> groups;  // as --groups has them; empty: dense
  std::vector<std::int64_t> gaps;    // as --gaps; empty: none
  ExtentOptions sizes;
  Distribution distribution = Distribution::normal;
  std::uint64_t seed = 1;

  /// Multiply-adds: the sum over the problem's slices.
  std::int64_t macs() const;
  ProblemExtents extents() const;
  /// "fp8twin random p.safetensors ..."
  std::string command() const;
};

inline constexpr std::int64_t least_macs = 128;

/// A problem of at most max(most_macs, least_macs).
DrawnProblem draw_problem(Numbers& numbers, const Form& form, std::int64_t most_macs);

}  // namespace fp8twin::cli
