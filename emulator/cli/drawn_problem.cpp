#include "emulator/cli/drawn_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "emulator/number/scale_block.hpp"

namespace fp8twin::cli {
namespace {

bool dense(Kind kind) { return kind == Kind::dense_1d2d || kind == Kind::dense_1d1d; }
bool groups_of_rows(Kind kind) { return kind == Kind::contiguous || kind == Kind::masked; }

/// A number of rows or columns at a tile's edge.
std::int64_t edge_rows(Numbers& numbers) {
  constexpr std::array<std::int64_t, 13> edges = {1, 1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 192, 0};
  return edges[numbers.below(edges.size())];
}

/// A K at the edge of a block of scales, or of a k32 step.
std::int64_t edge_k(Numbers& numbers) {
  constexpr std::array<std::int64_t, 14> edges = {0, 1, 127, 128, 129, 0, 1, 127, 128, 129, 31, 33, 255, 257};
  return edges[numbers.below(edges.size())];
}

std::int64_t draw_rows(Numbers& numbers, std::uint32_t octaves) {
  return numbers.one_in(2) ? edge_rows(numbers) : numbers.log_uniform(octaves);
}

std::int64_t draw_columns(Numbers& numbers, std::uint32_t octaves) {
  if (numbers.one_in(2)) return 8 * numbers.log_uniform(octaves - 3);
  return numbers.one_in(2) ? edge_rows(numbers) : numbers.log_uniform(octaves);
}

std::int64_t draw_k(Numbers& numbers, std::uint32_t octaves) {
  if (numbers.one_in(2)) return 16 * numbers.log_uniform(octaves - 4);
  return numbers.one_in(2) ? edge_k(numbers) : numbers.log_uniform(octaves);
}

/// Sizes of groups: of rows, or of K.
std::vector<std::int64_t> draw_groups(Numbers& numbers, bool of_k) {
  std::vector<std::int64_t> sizes(numbers.one_in(4) ? 1 : 2 + numbers.below(8));
  const bool all_empty = numbers.one_in(8);
  for (std::int64_t& size : sizes) {
    if (numbers.one_in(4) || all_empty) {
      size = 0;
    } else {
      size = of_k ? draw_k(numbers, 10) : draw_rows(numbers, 10);
    }
  }
  return sizes;
}

std::int64_t sum(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

/// About half of `extent`; a multiple of 16 or 8 stays one while it can, since kernels copy aligned rows in another way.
std::int64_t halved(std::int64_t extent) {
  const std::int64_t multiple = extent % 16 == 0 && extent > 16 ? 16 : extent % 8 == 0 && extent > 8 ? 8 : 1;
  return (extent / multiple + 1) / 2 * multiple;
}

void shrink(DrawnProblem& problem, std::int64_t most_macs) {
  while (problem.macs() > std::max(most_macs, least_macs)) {
    std::int64_t* largest = &problem.sizes.n;
    const auto consider = [&](std::int64_t& extent) {
      if (extent > *largest) largest = &extent;
    };
    consider(problem.sizes.m);
    consider(problem.sizes.k);
    for (std::int64_t& group : problem.groups) consider(group);
    *largest = halved(*largest);
  }
}

void draw_extents(Numbers& numbers, DrawnProblem& p) {
  const Kind kind = p.form.kind;
  const std::uint32_t octaves = dense(kind) ? 12 : 11;
  p.sizes.n = draw_columns(numbers, octaves);
  if (!groups_of_rows(kind)) p.sizes.m = draw_rows(numbers, octaves);
  if (kind != Kind::k_grouped) p.sizes.k = draw_k(numbers, octaves);
  if (kind == Kind::batched) {
    p.groups = {numbers.one_in(16) ? 0 : numbers.one_in(3) ? 1 : 2 + numbers.below(6)};
  } else if (!dense(kind)) {
    p.groups = draw_groups(numbers, kind == Kind::k_grouped);
  }
}

void draw_padding(Numbers& numbers, DrawnProblem& p) {
  constexpr std::array<Padding, 6> paddings = {Padding::nan,    Padding::nan,    Padding::zero,
                                               Padding::random, Padding::random, Padding::random};
  p.sizes.padding = padding_name(paddings[numbers.below(paddings.size())]);
}

/// The row after the last one of a group, or 0 for `random`'s own padding: --m.
std::int64_t cut_end(const DrawnProblem& p) {
  const ProblemExtents whole = p.extents();
  const auto padding = whole.padding_rows();
  if (padding.empty() || padding.back().second != whole.m) return 0;
  const std::int64_t end = padding.back().first;
  return end == sum(p.groups) ? 0 : end;  // which --m would mean the rows without padding
}

void draw_contiguous(Numbers& numbers, DrawnProblem& p) {
  draw_padding(numbers, p);
  p.sizes.group_ends = numbers.one_in(2);
  const bool gaps = numbers.one_in(3), cut = numbers.one_in(3);
  if (gaps) {
    for (std::size_t i = 0; i <= p.groups.size(); ++i) {
      const bool possible = !p.sizes.group_ends || i == p.groups.size();
      const std::uint32_t blocks = numbers.one_in(2) ? 0 : 1 + numbers.below(2);
      p.gaps.push_back(possible ? blocks : 0);
    }
  }
  if (cut) {
    const std::int64_t end = cut_end(p);
    if (end > 0) p.sizes.m = end;
  }
}

void draw_masked(Numbers& numbers, DrawnProblem& p) {
  draw_padding(numbers, p);
  constexpr std::array<std::int64_t, 6> room = {0, 0, 1, 7, 64, 130};
  p.sizes.max_m = *std::max_element(p.groups.begin(), p.groups.end()) + room[numbers.below(room.size())];
}

}  // namespace

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (const bool c : {false, true}) {
    forms.push_back({Kind::dense_1d2d, c, 128});
    forms.push_back({Kind::dense_1d1d, c, 1});
    for (const std::int64_t rows : {1, 128}) {
      forms.push_back({Kind::k_grouped, c, rows});
      if (c) continue;
      for (const Kind kind : {Kind::batched, Kind::contiguous, Kind::masked})
        forms.push_back({kind, false, rows});
    }
  }
  return forms;
}

std::int64_t DrawnProblem::macs() const {
  const std::int64_t m = sizes.m, n = sizes.n, k = sizes.k;
  if (dense(form.kind)) return m * n * k;
  if (groups_of_rows(form.kind)) return sum(groups) * n * k;
  return form.kind == Kind::batched ? groups.front() * m * n * k : m * n * sum(groups);
}

ProblemExtents DrawnProblem::extents() const {
  ExtentOptions options = sizes;
  options.gaps = fmt::format("{}", fmt::join(gaps, ","));
  return problem_extents(std::string(kind_name(form.kind)), fmt::format("{}", fmt::join(groups, ",")),
                         options);
}

std::string DrawnProblem::command() const {
  std::string line = "fp8twin random p.safetensors";
  if (form.kind != Kind::dense_1d2d) line += fmt::format(" --kind {}", kind_name(form.kind));
  if (!groups.empty()) line += fmt::format(" --groups {}", fmt::join(groups, ","));
  if (!gaps.empty()) line += fmt::format(" --gaps {}", fmt::join(gaps, ","));
  if (sizes.max_m != not_given) line += fmt::format(" --max-m {}", sizes.max_m);
  if (sizes.m != not_given) line += fmt::format(" --m {}", sizes.m);
  line += fmt::format(" --n {}", sizes.n);
  if (sizes.k != not_given) line += fmt::format(" --k {}", sizes.k);
  if (!sizes.b_block.empty()) line += " --b-block " + sizes.b_block;
  if (sizes.group_ends) line += " --group-ends";
  if (!sizes.padding.empty()) line += " --padding " + sizes.padding;
  if (sizes.with_c) line += " --with-c";
  return line + fmt::format(" --distribution {} --seed {}", distribution_name(distribution), seed);
}

DrawnProblem draw_problem(Numbers& numbers, const Form& form, std::int64_t most_macs) {
  DrawnProblem problem;
  problem.form = form;
  problem.sizes.with_c = form.has_c;
  if (!dense(form.kind)) problem.sizes.b_block = form.b_scale_rows == 1 ? "1x128" : "128x128";
  draw_extents(numbers, problem);
  const auto all = all_distributions();
  problem.distribution = numbers.one_in(4) ? Distribution::adversarial : all[numbers.below(all.size())];
  problem.seed = numbers.below(std::uint64_t{1} << 32);
  shrink(problem, most_macs);
  if (form.kind == Kind::contiguous) draw_contiguous(numbers, problem);
  if (form.kind == Kind::masked) draw_masked(numbers, problem);
  return problem;
}

}  // namespace fp8twin::cli
