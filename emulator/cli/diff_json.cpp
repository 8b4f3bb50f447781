#include "emulator/cli/diff_json.hpp"

#include <algorithm>

namespace fp8twin::cli {
namespace {

Json index_json(const DiffSubject& subject, std::int64_t index) {
  return index < 0 ? Json(nullptr) : Json(coordinates(subject.a.shape, index));
}

Json difference_json(const Answer& answer, std::size_t i) {
  const Difference& d = answer.comparison.first[i];
  Json json{{"index", coordinates(answer.subject.a.shape, d.index)},
            {"a", word_hex(answer.subject.a.dtype, d.a)},
            {"b", word_hex(answer.subject.b.dtype, d.b)}};
  if (answer.subject.tile) {
    const Owner o = owner_of(answer.subject.a.shape, d.index, *answer.subject.tile);
    json["owner"] = {{"tile_shape", {answer.subject.tile->rows, answer.subject.tile->columns}},
                     {"tile", {o.tile_row, o.tile_column}},
                     {"warpgroup", o.warpgroup},
                     {"warp", o.warp},
                     {"lane", o.lane},
                     {"register", o.reg}};
  }
  if (answer.cause && answer.cause->k_blocks[i]) json["k_block"] = *answer.cause->k_blocks[i];
  return json;
}

Json histogram_json(const Comparison& comparison) {
  Json list = Json::array();
  for (std::size_t i = 0; i < comparison.ulp_histogram.size(); ++i) {
    if (comparison.ulp_histogram[i] == 0) continue;
    list.push_back({{"from", i == 0 ? 0 : std::uint64_t{1} << (i - 1)},
                    {"to", i == 0 ? 0 : (std::uint64_t{1} << i) - 1},
                    {"elements", comparison.ulp_histogram[i]}});
  }
  return list;
}

Json cause_json(const DiffCause& cause) {
  Json variants = Json::array();
  for (const VariantScore& score : cause.scores) {
    variants.push_back(
        {{"name", score.variant.name}, {"differing", score.differing}, {"sample", score.sample}});
  }
  Json json{{"differing_tested", cause.differing_tested},
            {"sample_tested", cause.sample_tested},
            {"variants", variants}};
  json["best"] = cause.best ? Json(cause.scores[*cause.best].variant.name) : Json(nullptr);
  json["as_good"] = Json::array();  // every variant that these elements do not tell from the best
  for (std::size_t i = 0; i < cause.scores.size(); ++i) {
    if (cause.as_good_as_best(i)) json["as_good"].push_back(cause.scores[i].variant.name);
  }
  json["fault"] = cause.fault ? Json{{"sentence", cause.fault->sentence()},
                                     {"k_block", cause.fault->k_block},
                                     {"reproduced", cause.fault->reproduced},
                                     {"tested", cause.fault->tested}}
                              : Json(nullptr);
  json["conclusion"] = cause.sentence();
  return json;
}

Json answer_json(const Answer& answer) {
  const Comparison& c = answer.comparison;
  Json json{{"name", answer.subject.name},
            {"dtype", dtype_name(answer.subject.a.dtype)},
            {"shape", answer.subject.a.shape},
            {"equal", c.equal()},
            {"elements", c.elements},
            {"different", c.different},
            {"nan_mismatch", c.nan_mismatch},
            {"max_ulp", c.max_ulp},
            {"max_ulp_index", index_json(answer.subject, c.max_ulp_index)},
            {"max_abs", number(c.max_abs)},
            {"max_abs_index", index_json(answer.subject, c.max_abs_index)},
            {"max_rel", number(c.max_rel)},
            {"max_rel_index", index_json(answer.subject, c.max_rel_index)},
            {"calc_diff", number(c.calc_diff)},
            {"ulp_histogram", histogram_json(c)},
            {"first", nullptr},
            {"differences", Json::array()}};
  for (std::size_t i = 0; i < c.first.size(); ++i) json["differences"].push_back(difference_json(answer, i));
  if (!c.first.empty()) json["first"] = json["differences"][0];
  if (answer.subject.left_out > 0) json["left_out"] = answer.subject.left_out;
  if (answer.cause) json["cause"] = cause_json(*answer.cause);
  return json;
}

}  // namespace

/// Sums of the counts, maxima of the rest, the first difference of the first tensor that has one.
Json diff_json(const std::vector<Answer>& answers) {
  Comparison total;
  Json first = nullptr, tensors = Json::array();
  for (const Answer& answer : answers) {
    const Comparison& c = answer.comparison;
    total.elements += c.elements;
    total.different += c.different;
    total.nan_mismatch += c.nan_mismatch;
    total.max_ulp = std::max(total.max_ulp, c.max_ulp);
    total.max_abs = std::max(total.max_abs, c.max_abs);
    total.max_rel = std::max(total.max_rel, c.max_rel);
    total.calc_diff = std::max(total.calc_diff, c.calc_diff);
    tensors.push_back(answer_json(answer));
    if (first.is_null() && !c.first.empty()) {
      first = tensors.back()["first"];
      first["tensor"] = answer.subject.name;
    }
  }
  Json json{{"equal", total.equal()},
            {"elements", total.elements},
            {"different", total.different},
            {"nan_mismatch", total.nan_mismatch},
            {"max_ulp", total.max_ulp},
            {"max_abs", number(total.max_abs)},
            {"max_rel", number(total.max_rel)},
            {"calc_diff", number(total.calc_diff)},
            {"first", first}};
  if (answers.size() == 1 && answers[0].cause) json["cause"] = tensors[0]["cause"];
  json["tensors"] = tensors;
  return json;
}

}  // namespace fp8twin::cli
