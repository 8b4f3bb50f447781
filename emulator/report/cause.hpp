// Why b is not what the model gives: computes elements of d again under the variants of the arithmetic and
// with faults of one K block (variants.hpp), and says where along K the two results part, where that is
// known.
//
// Every element that differs is computed again, or an even choice of at most `sample` of them; and as many
// of all elements, so that a variant which explains the differences but spoils what was equal is seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/report/compare.hpp"
#include "emulator/report/variants.hpp"

namespace fp8twin {

struct DiffCause {
  bool recipes = false;  // scores are those of quantisation recipes, not of variants of the arithmetic
  std::int64_t differing_tested = 0, sample_tested = 0;
  std::vector<VariantScore> scores;
  std::optional<std::size_t> best;  // position in scores
  std::optional<Fault> fault;
  std::vector<std::optional<std::int64_t>> k_blocks;  // where known, for each of comparison.first

  /// Does score i reproduce as much as the best one? These elements do not tell the two apart.
  bool as_good_as_best(std::size_t i) const;
  /// What the scores and the fault showed, in one sentence.
  std::string sentence() const;
};

/// `comparison` is that of a and b over elements.ranges(). `sample` 0: every element.
DiffCause find_cause(const Problem& problem, const Elements& elements, const Tensor& a, const Tensor& b,
                     const Comparison& comparison, const CompareOptions& options, std::int64_t sample,
                     const ReportProgress& progress);

/// The other question, for a problem whose a and b are not quantised yet: which recipe made the codes and
/// scales that the model turns into b? `elements` are those of the problem quantised by any recipe.
DiffCause find_recipe(const TensorFile& unquantised, const Elements& elements, const Tensor& a,
                      const Tensor& b, const Comparison& comparison, const CompareOptions& options,
                      std::int64_t sample);

}  // namespace fp8twin
