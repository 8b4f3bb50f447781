#include "emulator/cli/problem_extents.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "emulator/cli/values.hpp"
#include "emulator/number/scale_block.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

class Resolver {
 public:
  Resolver(Kind kind, const std::string& groups, const ExtentOptions& options) : options_(options) {
    p_.kind = kind;
    p_.with_c = options.with_c;
    if (!groups.empty()) sizes_ = parse_integers("--groups", groups, 0);
  }

  ProblemExtents resolve() {
    refuse_foreign_options();
    p_.n = need("--n", options_.n);
    p_.b_scale_rows = b_scale_rows();
    if (!options_.padding.empty()) p_.padding = padding_from_name(options_.padding);
    switch (p_.kind) {
      case Kind::contiguous:
        contiguous();
        break;
      case Kind::masked:
        masked();
        break;
      case Kind::k_grouped:
        k_grouped();
        break;
      case Kind::batched:
        batched();
        break;
      case Kind::wgmma:
        wgmma();
        break;
      case Kind::dense_1d2d:
      case Kind::dense_1d1d:
        p_.m = need("--m", options_.m);
        p_.k = need("--k", options_.k);
    }
    check_size();
    return std::move(p_);
  }

 private:
  [[noreturn]] void refuse(const std::string& found_and_needed) const {
    throw Error(fmt::format("random --kind {}: {}", kind_name(p_.kind), found_and_needed));
  }

  std::int64_t need(const char* option, std::int64_t value) const {
    if (value == not_given) refuse(fmt::format("{} is missing; a size from 0 up is needed", option));
    return value;
  }

  void refuse_foreign_options() const {
    const bool dense = p_.kind == Kind::dense_1d2d || p_.kind == Kind::dense_1d1d || p_.kind == Kind::wgmma;
    const bool adds_c = dense || p_.kind == Kind::k_grouped;
    const bool contiguous = p_.kind == Kind::contiguous;
    if (dense && !sizes_.empty()) {
      refuse("--groups is given; it needs --kind contiguous, masked, k-grouped or batched");
    }
    if (p_.kind != Kind::masked && options_.max_m != not_given)
      refuse("--max-m is given; it needs --kind masked");
    if (!adds_c && p_.with_c) refuse("--with-c is given; it needs --kind 1d2d, 1d1d, k-grouped or wgmma");
    if (!contiguous && options_.group_ends) refuse("--group-ends is given; it needs --kind contiguous");
    if (!contiguous && !options_.gaps.empty()) refuse("--gaps is given; it needs --kind contiguous");
    if (!contiguous && p_.kind != Kind::masked && !options_.padding.empty())
      refuse("--padding is given; it needs --kind contiguous or masked");
    if (dense && !options_.b_block.empty())
      refuse("--b-block is given; it needs --kind batched, contiguous, masked or k-grouped");
  }

  std::int64_t b_scale_rows() const {
    if (options_.b_block.empty()) return p_.kind == Kind::dense_1d1d || p_.kind == Kind::k_grouped ? 1 : 128;
    if (options_.b_block == "1x128") return 1;
    if (options_.b_block == "128x128") return 128;
    refuse(fmt::format("--b-block is '{}'; 1x128 or 128x128 is needed", options_.b_block));
  }

  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes_) {
      if (size > largest_extent || (sum += size) > largest_extent) {
        refuse(fmt::format("--groups sums to more than {}; at most that is needed", largest_extent));
      }
    }
    return sum;
  }

  std::vector<std::int32_t> sizes_as_i32() const { return {sizes_.begin(), sizes_.end()}; }

  /// Blocks of padding before each group, and after the last.
  std::vector<std::int64_t> gaps() const {
    std::vector<std::int64_t> blocks;
    if (!options_.gaps.empty()) blocks = parse_integers("--gaps", options_.gaps, 0);
    if (blocks.size() > sizes_.size() + 1) {
      refuse(fmt::format("--gaps has {} numbers; needed is one for each of {} groups, and one for after them",
                         blocks.size(), sizes_.size()));
    }
    blocks.resize(sizes_.size() + 1);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i] > largest_extent / scale_block)
        refuse(fmt::format("--gaps has {} blocks of 128 rows; at most {} are needed", blocks[i],
                           largest_extent / scale_block));
      if (options_.group_ends && blocks[i] && i < sizes_.size())
        refuse("--gaps has padding before a group, which group_ends cannot say; it needs m_indices");
    }
    return blocks;
  }

  /// --m may repeat the rows (with or without the padding), ask for more padding at the end, or leave out some of the
  /// last group's.
  void contiguous() {
    if (sizes_.empty()) sizes_ = {need("--m", options_.m)};
    p_.k = need("--k", options_.k);
    p_.groups = static_cast<std::int64_t>(sizes_.size());
    const std::int64_t used = total();
    const std::vector<std::int64_t> blocks_before = gaps();
    std::vector<std::int64_t> starts;
    std::int64_t padded = 0, last_row = 0;
    for (std::size_t g = 0; g <= sizes_.size(); ++g) {
      padded += scale_block * blocks_before[g];
      if (g == sizes_.size()) break;
      starts.push_back(padded);
      if (sizes_[g]) last_row = padded + sizes_[g];
      padded += scale_block * scale_blocks(sizes_[g]);
    }
    p_.m = options_.m == not_given || options_.m == used ? padded : options_.m;
    if (p_.m < last_row || p_.m > largest_extent) {
      refuse(
          fmt::format("--m is {}; the groups need {} rows, each padded to a multiple of 128 (the last row "
                      "of a group is {})",
                      p_.m, padded, last_row - 1));
    }
    options_.group_ends ? write_group_ends() : write_m_indices(starts);
  }

  /// An empty group ends where the one before it does.
  void write_group_ends() {
    std::int64_t end = 0;
    for (const std::int64_t size : sizes_) {
      if (size) end = scale_block * scale_blocks(end) + size;
      p_.group_ends.push_back(static_cast<std::int32_t>(end));
    }
  }

  void write_m_indices(const std::vector<std::int64_t>& starts) {
    p_.m_indices.assign(static_cast<std::size_t>(p_.m), -1);
    for (std::size_t g = 0; g < sizes_.size(); ++g) {
      if (sizes_[g]) std::fill_n(p_.m_indices.begin() + starts[g], sizes_[g], static_cast<std::int32_t>(g));
    }
  }

  void masked() {
    if (sizes_.empty()) sizes_ = {need("--m", options_.m)};
    p_.k = need("--k", options_.k);
    p_.groups = static_cast<std::int64_t>(sizes_.size());
    const std::int64_t largest = *std::max_element(sizes_.begin(), sizes_.end());
    p_.m = options_.max_m != not_given ? options_.max_m : options_.m != not_given ? options_.m : largest;
    if (largest > p_.m)
      refuse(fmt::format("a group has {} rows and there is room for {}; a larger --max-m is needed", largest,
                         p_.m));
    p_.masked_m = sizes_as_i32();
  }

  void k_grouped() {
    if (sizes_.empty()) sizes_ = {need("--k", options_.k)};
    p_.m = need("--m", options_.m);
    p_.groups = static_cast<std::int64_t>(sizes_.size());
    p_.k = total();
    if (options_.k != not_given && options_.k != p_.k) {
      refuse(
          fmt::format("--k is {} and --groups sums to {}; needed is the same, or no --k", options_.k, p_.k));
    }
    p_.k_sizes = sizes_as_i32();
  }

  void batched() {
    if (sizes_.size() > 1)
      refuse("--groups is a list; batched needs one number, how many matrices there are");
    p_.groups = sizes_.empty() ? 1 : sizes_.front();
    if (p_.groups > largest_extent)
      refuse(fmt::format("--groups is {}; at most {} is needed", p_.groups, largest_extent));
    p_.m = need("--m", options_.m);
    p_.k = need("--k", options_.k);
  }

  void wgmma() {
    p_.m = options_.m == not_given ? 64 : options_.m;
    p_.k = need("--k", options_.k);
    if (p_.m != 64)
      refuse(fmt::format("--m is {}; the instruction has 64 rows, so 64 or no --m is needed", p_.m));
    if (p_.n < 8 || p_.n > 256 || p_.n % 8)
      refuse(fmt::format("--n is {}; a multiple of 8 from 8 to 256 is needed", p_.n));
    if (p_.k % 32) refuse(fmt::format("--k is {}; a multiple of 32 is needed", p_.k));
  }

  /// A size no machine holds is a sentence, not an allocation that fails (or wraps).
  void check_size() const {
    const double groups = static_cast<double>(p_.groups), m = static_cast<double>(p_.m),
                 n = static_cast<double>(p_.n);
    const double k = static_cast<double>(p_.k);
    const double elements = groups * std::max({m * k, n * k, m * n});
    if (elements > 0x1p40)
      refuse(fmt::format("a tensor would have {:.3g} elements; at most 2^40 is needed", elements));
  }

  ExtentOptions options_;
  std::vector<std::int64_t> sizes_;
  ProblemExtents p_{};
};

constexpr std::array<std::string_view, 3> padding_names = {"random", "nan", "zero"};

}  // namespace

Padding padding_from_name(const std::string& name) {
  for (std::size_t i = 0; i < padding_names.size(); ++i) {
    if (name == padding_names[i]) return static_cast<Padding>(i);
  }
  throw Error(fmt::format("--padding: found '{}'; random, nan or zero is needed", name));
}

std::string_view padding_name(Padding padding) { return padding_names[static_cast<std::size_t>(padding)]; }

std::int64_t ProblemExtents::k_blocks() const {
  if (kind != Kind::k_grouped) return scale_blocks(k);
  return std::accumulate(k_sizes.begin(), k_sizes.end(), std::int64_t{0},
                         [](std::int64_t sum, std::int32_t size) { return sum + scale_blocks(size); });
}

std::vector<std::pair<std::int64_t, std::int64_t>> ProblemExtents::padding_rows() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  const auto add = [&](std::int64_t first, std::int64_t end) {
    if (first < end) ranges.emplace_back(first, end);
  };
  if (kind == Kind::masked) {
    for (std::int64_t g = 0; g < groups; ++g) add(g * m + masked_m[static_cast<std::size_t>(g)], (g + 1) * m);
  } else if (kind == Kind::contiguous && m_indices.empty()) {
    std::int64_t end = 0;
    for (const std::int32_t next : group_ends) {
      if (next != end) add(end, scale_block * scale_blocks(end));
      end = next;
    }
    add(end, m);
  } else if (kind == Kind::contiguous) {
    for (auto row = m_indices.begin(); row != m_indices.end();) {
      const auto first = std::find(row, m_indices.end(), -1);
      row = std::find_if(first, m_indices.end(), [](std::int32_t group) { return group >= 0; });
      add(first - m_indices.begin(), row - m_indices.begin());
    }
  }
  return ranges;
}

ProblemExtents problem_extents(const std::string& kind, const std::string& groups,
                               const ExtentOptions& options) {
  const std::optional<Kind> known = kind_from_name(kind);
  if (!known) {
    throw Error(
        fmt::format("random: no kind is called '{}'; one of 1d2d, 1d1d, contiguous, masked, k-grouped, "
                    "batched, wgmma is needed",
                    kind));
  }
  return Resolver(*known, groups, options).resolve();
}

}  // namespace fp8twin::cli
