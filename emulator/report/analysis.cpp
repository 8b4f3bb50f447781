#include "emulator/report/analysis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "emulator/report/element.hpp"
#include "emulator/report/exact.hpp"
#include "emulator/report/word.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin {
namespace {

constexpr std::int64_t unit_columns = 1024;  // of one row: what a thread takes at a time

/// Running sums of one stage's errors.
struct StageSums {
  double max_abs = 0, max_rel = 0, square_error = 0, square_values = 0;
  std::int64_t max_abs_index = -1;

  void add(const exact::Sum& before, const exact::Sum& after, double reference, std::int64_t index) {
    exact::Sum difference = after;
    difference -= before;
    const double error = std::fabs(difference.value()), x = before.value(), y = after.value();
    if (error > max_abs) max_abs = error, max_abs_index = index;
    if (reference != 0) max_rel = std::max(max_rel, error / std::fabs(reference));
    square_error += error * error;
    square_values += x * x + y * y;
  }

  void append(const StageSums& next) {
    if (next.max_abs > max_abs) max_abs = next.max_abs, max_abs_index = next.max_abs_index;
    max_rel = std::max(max_rel, next.max_rel);
    square_error += next.square_error;
    square_values += next.square_values;
  }
};

exact::Sum sum_of(float x) {
  exact::Sum sum;
  if (std::isnan(x)) {
    sum.add_nan();
  } else {
    sum.add_product(x);
  }
  return sum;
}

/// Everything on one element's way; the letters are those of the header.
struct Way {
  exact::Sum u, e, t, f, d;
  exact::Sum without_from, without;  // "without promotion": from its exact sum to its result
  exact::Sum t_sm90;
  AnalysedElement values;

  bool finite() const {
    for (const exact::Sum* sum : {&u, &e, &t, &f, &d, &without_from, &without, &t_sm90}) {
      if (!sum->finite()) return false;
    }
    return true;
  }
};

/// The stages of one run: which there are, and how an element's way adds to them.
class Analyser {
 public:
  Analyser(const Problem& problem, const AnalysisOptions& options)
      : problem_(problem), options_(options), elements_(problem) {
    for (const IndexRange& range : elements_.ranges()) constant_ = constant_ && constant_over(range);
    if (!options.promote && !constant_) {
      throw Error(
          fmt::format("{}: scales vary along K; --promote none needs one scale for all of K in every row",
                      problem.file.path));
    }
  }

  const Elements& elements() const { return elements_; }

  std::vector<std::string> names() const {
    std::vector<std::string> list;
    if (options_.against_a) list.push_back("quantisation");
    list.push_back("accumulation");
    if (scaled()) list.push_back("promotion");
    for (const char* name : {"output rounding", "total", "model f32"}) list.push_back(name);
    if (scaled()) list.push_back(constant_ ? "without promotion" : "without promotion, unscaled");
    if (other_core()) list.push_back("accumulation sm90");
    return list;
  }

  void add(const Way& way, std::vector<StageSums>& sums) const {
    const double exact = way.e.value(), reference = options_.against_a ? way.u.value() : exact;
    const std::int64_t index = way.values.index;
    auto next = sums.begin();
    if (options_.against_a) (next++)->add(way.u, way.e, reference, index);
    (next++)->add(way.e, way.t, reference, index);
    if (scaled()) (next++)->add(way.t, way.f, reference, index);
    (next++)->add(way.f, way.d, reference, index);
    (next++)->add(options_.against_a ? way.u : way.e, way.d, reference, index);
    (next++)->add(way.e, way.f, reference, index);
    if (scaled())
      (next++)->add(way.without_from, way.without, constant_ ? reference : way.without_from.value(), index);
    if (other_core()) (next++)->add(way.e, way.t_sm90, reference, index);
  }

  Way walk(std::int64_t index) const {
    const Element e = elements_.at(index);
    Way way;
    way.values.index = index;
    way.e = exact::element(e.a, e.b, e.k, e.a_scale, e.b_scale, e.c);
    if (options_.against_a) {
      way.u = unquantised(e);
      way.values.unquantised = way.u.value();
    }
    const float f = fp32_result(options_.core, e, way.t);
    if (other_core()) fp32_result(sm90, e, way.t_sm90);
    if (scaled()) without_promotion(e, way);
    way.values.exact = way.e.value();
    way.values.promoted = f;
    way.values.d = options_.output == DType::f32 ? f : BF16::rn(f).value();
    way.f = sum_of(f);
    way.d = sum_of(way.values.d);
    return way;
  }

 private:
  bool scaled() const { return problem_.kind != Kind::wgmma; }
  bool other_core() const { return options_.core.fraction_bits != sm90.fraction_bits; }

  bool constant_over(IndexRange range) const {
    const std::int64_t n =
        problem_.n;  // every row's scales of A against the first of B, and the other way round
    for (std::int64_t index = range.begin; index < range.end; index += n) {
      if (!elements_.at(index).constant_scales()) return false;
    }
    for (std::int64_t column = 0; column < n; ++column) {
      if (!elements_.at(range.begin + column).constant_scales()) return false;
    }
    return true;
  }

  /// The FP32 result; `t` receives the same blocks' sums with everything after them exact.
  float fp32_result(const TensorCore& core, const Element& e, exact::Sum& t) const {
    if (!scaled()) {
      const float p = chain(core, e.a, e.b, e.k, e.c ? *e.c : 0.0f);
      t = sum_of(p);
      return p;
    }
    float final = 0.0f;
    if (options_.promote) {
      for (std::int64_t block = 0; block < e.k_blocks(); ++block) {
        const float p = chain(core, e.a + 128 * block, e.b + 128 * block, e.block_length(block));
        t.add_product(p, e.a_scale[block], e.b_scale[block]);
        final = fma_rn(e.scale(block), p, final);
      }
    } else if (e.k > 0) {
      const float p = chain(core, e.a, e.b, e.k);
      t.add_product(p, e.a_scale[0], e.b_scale[0]);
      final = mul_rn(e.scale(0), p);
    }
    if (!e.c) return final;
    t.add_product(*e.c);
    return add_rn(*e.c, final);
  }

  void without_promotion(const Element& e, Way& way) const {
    const float p = chain(options_.core, e.a, e.b, e.k);
    if (!constant_) {
      way.without_from = exact::element(e.a, e.b, e.k, nullptr, nullptr, nullptr);
      way.without = sum_of(p);
      return;
    }
    float d = e.k > 0 ? mul_rn(e.scale(0), p) : 0.0f;
    if (e.c) d = add_rn(*e.c, d);
    way.without_from = way.e;
    way.without = sum_of(d);
    way.values.not_promoted = d;
  }

  exact::Sum unquantised(const Element& e) const {
    const Tensor &a = *options_.against_a, &b = *options_.against_b;
    const std::int64_t first_a = e.a - problem_.a.data(), first_b = e.b - problem_.b.data();
    exact::Sum sum;
    for (std::int64_t i = 0; i < e.k; ++i) {
      sum.add_product(static_cast<float>(word_value(a.dtype, load_word(a, first_a + i))),
                      static_cast<float>(word_value(b.dtype, load_word(b, first_b + i))));
    }
    if (e.c) sum.add_product(*e.c);
    return sum;
  }

  const Problem& problem_;
  const AnalysisOptions& options_;
  Elements elements_;
  bool constant_ = true;
};

/// Rows of d (numbered as if d were a matrix of n columns) to analyse: evenly spaced, within the budget.
std::vector<std::int64_t> rows_to_analyse(const Problem& problem, const AnalysisOptions& options,
                                          const Elements& elements, std::int64_t& all_rows) {
  if (problem.n == 0 || elements.count() == 0) return {};
  std::vector<IndexRange> rows = elements.ranges();
  for (IndexRange& range : rows) range = {range.begin / problem.n, range.end / problem.n};
  all_rows = elements.count() / problem.n;
  const std::int64_t budget = options.against_a ? row_budget / 8 : row_budget;
  const std::int64_t automatic =
      std::max<std::int64_t>(1, budget / std::max<std::int64_t>(1, problem.n * problem.k));
  return evenly_spaced(rows, options.rows > 0 ? options.rows : automatic);
}

void check_unquantised(const Tensor* tensor, const char* name, const Shape& shape) {
  const bool float_type =
      tensor->dtype == DType::bf16 || tensor->dtype == DType::f16 || tensor->dtype == DType::f32;
  if (float_type && tensor->shape == shape) return;
  throw Error(fmt::format(
      "the unquantised tensor '{}' is {} {}; needed is BF16, F16 or F32 of shape {}, as the problem's codes",
      name, dtype_name(tensor->dtype), shape_text(tensor->shape), shape_text(shape)));
}

struct Unit {
  std::vector<StageSums> sums;
  std::int64_t elements = 0, not_finite = 0;
};

Stage finished(const std::string& name, const StageSums& sums, std::int64_t elements) {
  return {.name = name,
          .max_abs = sums.max_abs,
          .max_rel = sums.max_rel,
          .rms = elements > 0 ? std::sqrt(sums.square_error / static_cast<double>(elements)) : 0,
          .calc_diff = sums.square_error > 0 ? sums.square_error / sums.square_values : 0,
          .max_abs_index = sums.max_abs_index};
}

}  // namespace

Analysis analyze(const Problem& problem, const AnalysisOptions& options) {
  if (options.against_a) {
    check_unquantised(options.against_a, "a", problem.file.at("a").shape);
    check_unquantised(options.against_b, "b", problem.file.at("b").shape);
  }
  const Analyser analyser(problem, options);
  Analysis analysis;
  const std::vector<std::int64_t> rows =
      rows_to_analyse(problem, options, analyser.elements(), analysis.all_rows);
  analysis.rows = static_cast<std::int64_t>(rows.size());

  const std::vector<std::string> names = analyser.names();
  const std::int64_t units_a_row = (problem.n + unit_columns - 1) / unit_columns;
  std::vector<Unit> units(rows.size() * static_cast<std::size_t>(units_a_row));
  const auto unit_count = static_cast<std::int64_t>(units.size());
  parallel_for(unit_count, options.threads, [&](std::int64_t i, int worker) {
    Unit& unit = units[static_cast<std::size_t>(i)];
    unit.sums.resize(names.size());
    const std::int64_t row = rows[static_cast<std::size_t>(i / units_a_row)],
                       first = i % units_a_row * unit_columns;
    for (std::int64_t column = first; column < std::min(problem.n, first + unit_columns); ++column) {
      const Way way = analyser.walk(row * problem.n + column);
      ++(way.finite() ? unit.elements : unit.not_finite);
      if (way.finite()) analyser.add(way, unit.sums);
    }
    if (options.progress && worker == 0) options.progress(i, unit_count);
  });

  std::vector<StageSums> sums(names.size());
  for (const Unit& unit : units) {
    analysis.elements += unit.elements;
    analysis.not_finite += unit.not_finite;
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s].append(unit.sums[s]);
  }
  for (std::size_t s = 0; s < sums.size(); ++s)
    analysis.stages.push_back(finished(names[s], sums[s], analysis.elements));
  if (!rows.empty()) {
    const std::int64_t first = rows[0] * problem.n;
    analysis.examples.push_back(analyser.walk(first).values);
    const auto total = std::find(names.begin(), names.end(), "total") - names.begin();
    const std::int64_t worst = sums[static_cast<std::size_t>(total)].max_abs_index;
    if (worst >= 0 && worst != first) analysis.examples.push_back(analyser.walk(worst).values);
  }
  return analysis;
}

}  // namespace fp8twin
