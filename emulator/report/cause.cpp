#include "emulator/report/cause.hpp"

#include <fmt/core.h>

#include <limits>

#include "emulator/report/requantize.hpp"

namespace fp8twin {
namespace {

/// The K block at which a (taken to be the model's) and b part: known where the model gives a's bits and a best
/// variant gives b's (several must agree on the block), or where one fault explains b.
std::optional<std::int64_t> k_block_apart(const DiffCause& cause, const Element& element, const Difference& d,
                                          DType output) {
  const Variant& model = cause.scores[0].variant;
  std::optional<std::int64_t> block;
  for (std::size_t i = 0; i < cause.scores.size() && evaluate(model, element, output) == d.a; ++i) {
    const Variant& variant = cause.scores[i].variant;
    if (!cause.as_good_as_best(i) || evaluate(variant, element, output) != d.b) continue;
    const std::optional<std::int64_t> apart = first_k_block_apart(model, variant, element, output);
    if (!apart || (block && block != apart)) return std::nullopt;
    block = apart;
  }
  if (block) return block;
  return cause.fault ? std::optional(cause.fault->k_block) : std::nullopt;
}

/// The elements to compute again.
struct Chosen {
  std::vector<std::int64_t> differing, overall;
};

Chosen choose(const Elements& elements, const Tensor& a, const Tensor& b, const Comparison& comparison,
              const CompareOptions& options, std::int64_t sample) {
  const std::int64_t limit = sample > 0 ? sample : std::numeric_limits<std::int64_t>::max();
  return {differing_elements(a, b, comparison, options, limit), evenly_spaced(elements.ranges(), limit)};
}

DiffCause empty_cause(const Chosen& chosen) {
  DiffCause cause;
  cause.differing_tested = static_cast<std::int64_t>(chosen.differing.size());
  cause.sample_tested = static_cast<std::int64_t>(chosen.overall.size());
  return cause;
}

}  // namespace

DiffCause find_cause(const Problem& problem, const Elements& elements, const Tensor& a, const Tensor& b,
                     const Comparison& comparison, const CompareOptions& options, std::int64_t sample,
                     const ReportProgress& progress) {
  const Chosen chosen = choose(elements, a, b, comparison, options, sample);
  DiffCause cause = empty_cause(chosen);
  cause.scores = score_variants(elements, variants_for(problem, b.dtype), b, chosen.differing, chosen.overall,
                                options.threads, progress);
  cause.best = best_variant(cause.scores);
  cause.fault = find_fault(elements, b, chosen.differing, options.threads);
  for (const Difference& d : comparison.first) {
    cause.k_blocks.push_back(k_block_apart(cause, elements.at(d.index), d, b.dtype));
  }
  return cause;
}

DiffCause find_recipe(const TensorFile& unquantised, const Elements& elements, const Tensor& a,
                      const Tensor& b, const Comparison& comparison, const CompareOptions& options,
                      std::int64_t sample) {
  const Chosen chosen = choose(elements, a, b, comparison, options, sample);
  DiffCause cause = empty_cause(chosen);
  cause.recipes = true;
  cause.k_blocks.resize(comparison.first.size());
  for (const ScaleFormat format : {ScaleFormat::f32, ScaleFormat::ue8m0}) {
    for (const Recipe& recipe : all_recipes()) {
      const Problem problem = read_problem(quantised_file(unquantised, recipe, format, options.threads));
      const Variant model = variants_for(problem, b.dtype).front();
      VariantScore score =
          score_variants(Elements(problem), {&model, 1}, b, chosen.differing, chosen.overall, options.threads)
              .front();
      score.variant.name = fmt::format("{}, {} scales", recipe.name, scale_format_name(format));
      cause.scores.push_back(score);
    }
  }
  cause.best = best_variant(cause.scores);
  return cause;
}

bool DiffCause::as_good_as_best(std::size_t i) const {
  return best && scores[i].differing == scores[*best].differing && scores[i].sample == scores[*best].sample;
}

std::string DiffCause::sentence() const {
  if (differing_tested == 0) return "nothing differs, so there is nothing to explain";
  const auto share = [](std::int64_t part, std::int64_t of) {
    return static_cast<double>(part) / static_cast<double>(of);
  };
  const double best_share = best ? share(scores[*best].differing, differing_tested) : 0;
  const double fault_share = fault ? share(fault->reproduced, fault->tested) : 0;
  if (fault && fault_share > best_share) {
    return fmt::format("{}, in {} of {} differing elements tested", fault->sentence(), fault->reproduced,
                       fault->tested);
  }
  if (best_share <= 0.5)
    return fmt::format("no {} reproduces most of b's differing elements", recipes ? "recipe" : "variant");
  const VariantScore& score = scores[*best];
  const bool all = score.differing == differing_tested;
  if (*best == 0 && all && !recipes) {
    return "b is what the model gives in every differing element tested: it is a that departs from it";
  }
  std::string names;
  std::size_t count = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!as_good_as_best(i)) continue;
    names += (count++ > 0 ? " and by " : "") + scores[i].variant.name;
  }
  if (count > 1) names += " alike";
  if (all && score.sample == sample_tested)
    return fmt::format("b is reproduced by {} in every element tested", names);
  return fmt::format("b is reproduced by {} in {} of {} differing elements and {} of {} of the sample", names,
                     score.differing, differing_tested, score.sample, sample_tested);
}

}  // namespace fp8twin
