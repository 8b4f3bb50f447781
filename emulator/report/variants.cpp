#include "emulator/report/variants.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "emulator/number/bf16.hpp"
#include "emulator/report/exact.hpp"
#include "emulator/report/word.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin {
namespace {

/// The codes [first, first + count) summed onto c. `rounded_once`: c and all products in one exact sum,
/// which is rounded to double and then to FP32.
float accumulate(Accumulation how, const Element& e, std::int64_t first, std::int64_t count, float c) {
  const std::uint8_t *a = e.a + first, *b = e.b + first;
  switch (how) {
    case Accumulation::bits13:
      return chain(sm90, a, b, count, c);
    case Accumulation::bits25:
      return chain(with_fraction_bits(25), a, b, count, c);
    case Accumulation::fp32_sums:  // a product of two E4M3 values is a binary32 value
      for (std::int64_t i = 0; i < count; ++i) c = add_rn(c, mul_rn(E4M3{a[i]}.value(), E4M3{b[i]}.value()));
      return c;
    case Accumulation::rounded_once:
      break;
  }
  return canonical(static_cast<float>(exact::element(a, b, count, nullptr, nullptr, &c).value()));
}

/// The sums of an element's K blocks, computed once for all variants that promote them.
class BlockSums {
 public:
  explicit BlockSums(const Element& element) : element_(element) {}

  const std::vector<float>& of(Accumulation how) {
    std::vector<float>& sums = sums_[static_cast<std::size_t>(how)];
    for (auto block = static_cast<std::int64_t>(sums.size()); block < element_.k_blocks(); ++block) {
      sums.push_back(accumulate(how, element_, 128 * block, element_.block_length(block), 0.0f));
    }
    return sums;
  }

 private:
  const Element& element_;
  std::array<std::vector<float>, 4> sums_;
};

/// One step of promotion: the sum of a block, its scales, and what the earlier blocks came to.
float promote(Promotion how, float p, float a_scale, float b_scale, float final) {
  switch (how) {
    case Promotion::multiply_then_add:
      return add_rn(final, mul_rn(mul_rn(a_scale, b_scale), p));
    case Promotion::scale_a_first:
      return add_rn(final, mul_rn(mul_rn(p, a_scale), b_scale));
    case Promotion::scale_b_first:
      return add_rn(final, mul_rn(mul_rn(p, b_scale), a_scale));
    case Promotion::scale_a_first_fma:
      return fma_rn(mul_rn(p, a_scale), b_scale, final);
    case Promotion::scale_b_first_fma:
      return fma_rn(mul_rn(p, b_scale), a_scale, final);
    default:
      return fma_rn(mul_rn(a_scale, b_scale), p, final);
  }
}

/// One chain over all of K. wgmma starts from c; a scaled problem scales the sum.
float without_promotion(const Variant& v, const Element& e, std::vector<float>* running) {
  const bool from_c = !e.scaled && e.c && v.promotion != Promotion::c_last;
  float sum = from_c ? *e.c : 0.0f;
  const float scale = e.k > 0 ? e.scale(0) : 1.0f;
  const auto scaled = [&](float x) { return e.scaled ? mul_rn(scale, x) : x; };
  if (v.accumulation == Accumulation::rounded_once) return scaled(accumulate(v.accumulation, e, 0, e.k, sum));
  for (std::int64_t block = 0; block < e.k_blocks(); ++block) {
    sum = accumulate(v.accumulation, e, 128 * block, e.block_length(block), sum);
    if (running) running->push_back(scaled(sum));
  }
  return scaled(sum);
}

float promoted(const Variant& v, const Element& e, const std::vector<float>& sums,
               std::vector<float>* running) {
  const std::int64_t blocks = e.k_blocks();
  const std::int64_t split = v.promotion == Promotion::split_k_2 ? (blocks + 1) / 2 : blocks;
  float final = 0.0f, first_half = 0.0f;
  for (std::int64_t block = 0; block < blocks; ++block) {
    if (block == split) first_half = std::exchange(final, 0.0f);
    const float p = sums[static_cast<std::size_t>(block)];
    final = promote(v.promotion, p, e.scaled ? e.a_scale[block] : 1.0f, e.scaled ? e.b_scale[block] : 1.0f,
                    final);
    if (running) running->push_back(block < split ? final : add_rn(first_half, final));
  }
  return split < blocks ? add_rn(first_half, final) : final;
}

float dequantised(const Element& e) {
  float sum = 0.0f;
  for (std::int64_t i = 0; i < e.k; ++i) {
    sum = fma_rn(mul_rn(E4M3{e.a[i]}.value(), e.a_scale[i / 128]),
                 mul_rn(E4M3{e.b[i]}.value(), e.b_scale[i / 128]), sum);
  }
  return sum;
}

std::uint32_t round_output(float x, DType output, bool truncate) {
  if (output == DType::f32) return f32_bits(x);
  return truncate && !is_nan(x) ? f32_bits(x) >> 16 : BF16::rn(x).code;
}

bool one_chain(const Variant& v) {
  return v.promotion == Promotion::none || v.promotion == Promotion::c_last;
}

std::optional<std::uint32_t> evaluate_with(BlockSums& sums, const Variant& variant, const Element& e,
                                           DType output, std::vector<float>* running) {
  if (variant.whole == WholeElement::double_reference) {
    const double value = exact::element(e.a, e.b, e.k, e.a_scale, e.b_scale, e.c).value();
    return round_output(canonical(static_cast<float>(value)), output, false);
  }
  if (variant.promotion == Promotion::none && !e.constant_scales()) return std::nullopt;
  float d = variant.whole == WholeElement::dequantised ? dequantised(e)
            : one_chain(variant)                       ? without_promotion(variant, e, running)
                                 : promoted(variant, e, sums.of(variant.accumulation), running);
  const bool c_is_in = !e.scaled && variant.promotion == Promotion::none;
  if (e.c && !c_is_in) d = add_rn(*e.c, d);
  return round_output(d, output, variant.truncate_output);
}

}  // namespace

std::vector<Variant> variants_for(const Problem& problem, DType output) {
  using enum Accumulation;
  if (problem.kind == Kind::wgmma) {
    std::vector<Variant> list{{"model", bits13, Promotion::none},
                              {"fp32-sums", fp32_sums, Promotion::none},
                              {"exact-blocks", rounded_once, Promotion::none},
                              {"fraction-bits-25", bits25, Promotion::none},
                              {"promoted", bits13, Promotion::fma},
                              {"double-reference", bits13, Promotion::none, WholeElement::double_reference}};
    if (problem.has_c) list.push_back({"c-added-last", bits13, Promotion::c_last});
    return list;
  }
  std::vector<Variant> list{{"model", bits13, Promotion::fma},
                            {"fast-accumulation", bits13, Promotion::none},
                            {"multiply-then-add", bits13, Promotion::multiply_then_add},
                            {"scale-a-first", bits13, Promotion::scale_a_first},
                            {"scale-b-first", bits13, Promotion::scale_b_first},
                            {"scale-a-first-fma", bits13, Promotion::scale_a_first_fma},
                            {"scale-b-first-fma", bits13, Promotion::scale_b_first_fma},
                            {"fp32-sums", fp32_sums, Promotion::fma},
                            {"exact-blocks", rounded_once, Promotion::fma},
                            {"fraction-bits-25", bits25, Promotion::fma},
                            {"fraction-bits-25-fast", bits25, Promotion::none},
                            {"split-k-2", bits13, Promotion::split_k_2},
                            {"dequantised", bits13, Promotion::fma, WholeElement::dequantised},
                            {"double-reference", bits13, Promotion::fma, WholeElement::double_reference}};
  if (output == DType::bf16)
    list.push_back({"output-truncated", bits13, Promotion::fma, WholeElement::no, true});
  return list;
}

std::optional<std::uint32_t> evaluate(const Variant& variant, const Element& element, DType output,
                                      std::vector<float>* running) {
  BlockSums sums(element);
  return evaluate_with(sums, variant, element, output, running);
}

std::optional<std::int64_t> first_k_block_apart(const Variant& x, const Variant& y, const Element& element,
                                                DType output) {
  std::vector<float> running_x, running_y;
  if (!evaluate(x, element, output, &running_x) || !evaluate(y, element, output, &running_y))
    return std::nullopt;
  if (running_x.size() != running_y.size()) return std::nullopt;
  for (std::size_t block = 0; block < running_x.size(); ++block) {
    if (f32_bits(running_x[block]) != f32_bits(running_y[block])) return static_cast<std::int64_t>(block);
  }
  return std::nullopt;
}

std::vector<VariantScore> score_variants(const Elements& elements, std::span<const Variant> variants,
                                         const Tensor& b, std::span<const std::int64_t> differing,
                                         std::span<const std::int64_t> sample, int threads,
                                         const ReportProgress& progress) {
  const auto tested = static_cast<std::int64_t>(differing.size() + sample.size());
  std::vector<VariantScore> totals;
  for (const Variant& variant : variants) totals.push_back({variant, 0, 0});
  std::vector<std::vector<VariantScore>> scores(static_cast<std::size_t>(thread_count(threads)), totals);
  parallel_for(tested, threads, [&](std::int64_t i, int worker) {
    const auto at = static_cast<std::size_t>(i);
    const bool differs = at < differing.size();
    const std::int64_t index = differs ? differing[at] : sample[at - differing.size()];
    const Element element = elements.at(index);
    BlockSums sums(element);
    for (VariantScore& score : scores[static_cast<std::size_t>(worker)]) {
      if (evaluate_with(sums, score.variant, element, b.dtype, nullptr) != load_word(b, index)) continue;
      ++(differs ? score.differing : score.sample);
    }
    if (progress && worker == 0) progress(i, tested);
  });
  for (const auto& part : scores) {
    for (std::size_t v = 0; v < totals.size(); ++v) {
      totals[v].differing += part[v].differing;
      totals[v].sample += part[v].sample;
    }
  }
  return totals;
}

std::optional<std::size_t> best_variant(std::span<const VariantScore> scores) {
  const auto best =
      std::max_element(scores.begin(), scores.end(), [](const VariantScore& x, const VariantScore& y) {
        return std::pair(x.differing, x.sample) < std::pair(y.differing, y.sample);
      });
  if (best == scores.end() || best->differing == 0) return std::nullopt;
  return static_cast<std::size_t>(best - scores.begin());
}

}  // namespace fp8twin
