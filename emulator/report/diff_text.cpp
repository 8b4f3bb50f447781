#include "emulator/report/diff_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "emulator/report/word.hpp"

namespace fp8twin {
namespace {

std::string verdict(const DiffSubject& subject, const Comparison& c) {
  if (c.elements == 0) return fmt::format("{}: no elements to compare, equal", subject.name);
  if (c.equal()) {
    return fmt::format("{}: equal, all {} elements ({} bits)", subject.name, c.elements,
                       8 * c.elements * static_cast<std::int64_t>(dtype_size(subject.a.dtype)));
  }
  std::string text =
      fmt::format("{}: {} of {} elements differ ({:.3g} %)", subject.name, c.different, c.elements,
                  100.0 * static_cast<double>(c.different) / static_cast<double>(c.elements));
  if (c.nan_mismatch < c.different) text += fmt::format(", by at most {} ULP", c.max_ulp);
  if (c.nan_mismatch > 0) text += fmt::format(", {} of them with a NaN", c.nan_mismatch);
  return text;
}

std::string place_text(const Shape& shape, std::int64_t index) {
  return index < 0 ? "" : "at " + shape_text(coordinates(shape, index));
}

std::string magnitudes(const Shape& shape, const Comparison& c) {
  return fmt::format("  greatest absolute difference  {:<12.6g} {}\n", c.max_abs,
                     place_text(shape, c.max_abs_index)) +
         fmt::format("  greatest relative difference  {:<12.6g} {}\n", c.max_rel,
                     place_text(shape, c.max_rel_index)) +
         fmt::format("  calc_diff                     {:.6g}\n", c.calc_diff);
}

std::string histogram(const Comparison& c) {
  const std::int64_t most = *std::max_element(c.ulp_histogram.begin(), c.ulp_histogram.end());
  if (most == 0) return "";
  std::string text = fmt::format("  {:>24}  {:>12}\n", "ULP distance", "elements");
  for (std::size_t i = 0; i < c.ulp_histogram.size(); ++i) {
    const std::int64_t count = c.ulp_histogram[i];
    if (count == 0) continue;
    const std::uint64_t low = i == 0 ? 0 : std::uint64_t{1} << (i - 1), high = i == 0 ? 0 : 2 * low - 1;
    const std::string range = i == 0        ? "0 (-0 and +0)"
                              : low == high ? fmt::format("{}", low)
                                            : fmt::format("{} to {}", low, high);
    text += fmt::format("  {:>24}  {:>12}  {:#<{}}\n", range, count, "",
                        std::max<std::int64_t>(1, 40 * count / most));
  }
  return text;
}

std::string owner_text(const Owner& o) {
  return fmt::format("tile ({}, {}), warpgroup {}, warp {}, lane {}, register {}", o.tile_row, o.tile_column,
                     o.warpgroup, o.warp, o.lane, o.reg);
}

std::string first_differences(const DiffSubject& subject, const Comparison& c, const DiffCause* cause) {
  const std::string owner =
      !subject.tile ? ""
                    : fmt::format("owner, for tiles of {} x {}", subject.tile->rows, subject.tile->columns);
  std::string text = fmt::format("  {:<20} {:>14} {:>10}   {:>14} {:>10}   {}\n", "first differences", "a",
                                 "", "b", "", owner);
  for (std::size_t i = 0; i < c.first.size(); ++i) {
    const Difference& d = c.first[i];
    const DType dtype = subject.a.dtype;
    text += fmt::format("    {:<18} {:>14} {:>10}   {:>14} {:>10}",
                        shape_text(coordinates(subject.a.shape, d.index)), word_text(dtype, d.a),
                        word_hex(dtype, d.a), word_text(dtype, d.b), word_hex(dtype, d.b));
    if (subject.tile) text += "   " + owner_text(owner_of(subject.a.shape, d.index, *subject.tile));
    if (cause && cause->k_blocks[i]) text += fmt::format("; parts at K block {}", *cause->k_blocks[i]);
    text += "\n";
  }
  return text;
}

std::string variants_table(const DiffCause& cause) {
  std::string text =
      fmt::format("  which {} gives b? {} differing elements and {} of all were computed again\n",
                  cause.recipes ? "recipe" : "arithmetic", cause.differing_tested, cause.sample_tested);
  text += fmt::format("    {:<24} {:>16} {:>16}\n", cause.recipes ? "recipe" : "variant", "of the differing",
                      "of the sample");
  for (std::size_t i = 0; i < cause.scores.size(); ++i) {
    const VariantScore& score = cause.scores[i];
    text += fmt::format("    {:<24} {:>16} {:>16}{}\n", score.variant.name, score.differing, score.sample,
                        cause.as_good_as_best(i) ? "   <- best" : "");
  }
  return text + "  " + cause.sentence() + "\n";
}

}  // namespace

std::string word_text(DType dtype, std::uint32_t bits) {
  if (word_is_nan(dtype, bits)) return "NaN";
  if (dtype == DType::i32 || dtype == DType::u8) return fmt::format("{}", word_place(dtype, bits));
  return fmt::format("{}", static_cast<float>(word_value(dtype, bits)));
}

std::string word_hex(DType dtype, std::uint32_t bits) {
  return fmt::format("0x{:0{}x}", bits, 2 * word_size(dtype));
}

Owner owner_of(const Shape& shape, std::int64_t index, TileShape tile) {
  const Shape at = coordinates(shape, index);
  return owner(at[at.size() - 2], at[at.size() - 1], tile);
}

std::string diff_text(const DiffSubject& subject, const Comparison& comparison, const DiffCause* cause) {
  std::string text = verdict(subject, comparison) + "\n";
  text += fmt::format("  {} {}\n", dtype_name(subject.a.dtype), shape_text(subject.a.shape));
  if (subject.left_out > 0)
    text += fmt::format("  {} elements that the problem does not define were left out\n", subject.left_out);
  if (!comparison.equal()) {
    text += magnitudes(subject.a.shape, comparison) + histogram(comparison) +
            first_differences(subject, comparison, cause);
  }
  if (cause) text += variants_table(*cause);
  return text;
}

}  // namespace fp8twin
