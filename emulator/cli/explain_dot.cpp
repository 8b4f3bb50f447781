// The tensor core's dot product step by step: E, every term on its grid, the sum, the result, and what exact arithmetic says.
#include <fmt/core.h>

#include <array>
#include <cmath>

#include "emulator/cli/dot_expression.hpp"
#include "emulator/cli/explain.hpp"
#include "emulator/cli/text.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/number/tensor_core.hpp"

namespace fp8twin::cli {
namespace {

constexpr int c_fraction_bits = 23, product_fraction_bits = 6;

struct Dot {
  TensorCore core;
  std::vector<DotProduct> products;  // as typed; the rest of the group is zero
  float c;
  DotTrace trace;

  double grid() const { return std::ldexp(1.0, trace.exponent - core.fraction_bits); }
  std::size_t c_index() const { return static_cast<std::size_t>(core.group); }
};

double term_value(const DotTerm& term, int fraction_bits) {
  return std::ldexp(static_cast<double>(term.significand), term.exponent - fraction_bits);
}

/// The sum without any cut: `value`, and what a double cannot hold of it.
struct Exact {
  double value, rest;
};

Exact exact_sum(const Dot& dot) {
  double products = 0;  // multiples of 2^-18 below 2^23: exact
  for (const DotProduct& p : dot.products) products += double{p.a.value()} * double{p.b.value()};
  const double c = dot.c, sum = products + c;
  if (!std::isfinite(sum)) return {sum, 0};
  const double from_c = sum - products;
  return {sum, (products - (sum - from_c)) + (c - from_c)};  // Knuth's two-sum: the rounding error, exactly
}

/// One row for a run of products that are alike.
TableRow product_row(const Dot& dot, std::size_t first, std::size_t last) {
  const DotProduct& p = dot.products[first];
  const DotTerm& term = dot.trace.terms[first];
  const double value = term_value(term, product_fraction_bits),
               kept = static_cast<double>(term.aligned) * dot.grid();
  return {
      first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last),
      fmt::format("{} * {}", hex(p.a.code, 2), hex(p.b.code, 2)),
      fmt::format("{}*{} = {}", p.a.significand(), p.b.significand(), p.a.significand() * p.b.significand()),
      fmt::format("{}{:+} = {}", p.a.exponent(), p.b.exponent(), term.exponent),
      decimal(value),
      fmt::format("{}", term.aligned),
      decimal(value - kept)};
}

TableRow c_row(const Dot& dot) {
  const DotTerm& term = dot.trace.terms[dot.c_index()];
  const double value = term_value(term, c_fraction_bits),
               kept = static_cast<double>(term.aligned) * dot.grid();
  return {"C",
          hex(f32_bits(dot.c), 8),
          fmt::format("{}", std::abs(term.significand)),
          fmt::format("{}", term.exponent),
          decimal(value),
          fmt::format("{}", term.aligned),
          decimal(value - kept)};
}

std::string terms_text(const Dot& dot) {
  std::vector<TableRow> rows{
      {"term", "codes", "significands", "exponent", "value", "on the grid", "cut off"}};
  for (std::size_t first = 0, last; first < dot.products.size(); first = last + 1) {
    for (last = first; last + 1 < dot.products.size() && dot.products[last + 1] == dot.products[first];)
      ++last;
    rows.push_back(product_row(dot, first, last));
  }
  rows.push_back(c_row(dot));
  std::string text = table(rows);
  const std::size_t zeros = dot.c_index() - dot.products.size();
  if (zeros) text += fmt::format("  and {} products of zeros, which add nothing and never raise E\n", zeros);
  return text;
}

std::string steps(const Dot& dot) {
  const DotTrace& trace = dot.trace;
  if (trace.special) {
    return line("special", std::isnan(trace.result) ? "a NaN among the operands: the result is the one NaN"
                                                    : "C is infinite: it is returned as it is");
  }
  if (trace.all_zero) return terms_text(dot) + "\n" + line("sum", "every term is zero, of whatever sign: +0");
  const int f = dot.core.fraction_bits;
  return line("E", fmt::format("{}: the largest exponent of a term that is not zero", trace.exponent)) +
         line("grid", fmt::format("2^({} - {}) = {}: each term is cut off toward zero to a multiple of it",
                                  trace.exponent, f, decimal(dot.grid()))) +
         "\n" + terms_text(dot) + "\n" +
         line("sum", fmt::format("{} * {} = {}", trace.sum, decimal(dot.grid()),
                                 decimal(static_cast<double>(trace.sum) * dot.grid()))) +
         line("cut", fmt::format("toward zero to {} fraction bits", dot.core.output_bits));
}

Json terms_json(const Dot& dot) {
  Json terms = Json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(dot.trace.term_count); ++i) {
    const DotTerm& term = dot.trace.terms[i];
    Json entry;
    if (i == dot.c_index()) {
      entry = {{"c", hex(f32_bits(dot.c), 8)}};
    } else {
      const DotProduct p = i < dot.products.size() ? dot.products[i] : DotProduct{};
      entry = {{"a", hex(p.a.code, 2)}, {"b", hex(p.b.code, 2)}};
    }
    entry["significand"] = term.significand;
    entry["exponent"] = term.exponent;
    entry["value"] = number(term_value(term, i == dot.c_index() ? c_fraction_bits : product_fraction_bits));
    entry["aligned"] = term.aligned;
    terms.push_back(entry);
  }
  return terms;
}

}  // namespace

Explanation explain_dot(const std::string& value, const std::string& c, int fraction_bits) {
  Dot dot;
  dot.core = with_fraction_bits(fraction_bits);
  dot.products = parse_dot(value, dot.core.group);
  dot.c = is_bit_pattern(c) ? f32_from_bits(static_cast<std::uint32_t>(parse_bits("--c", c, 32)))
                            : parse_f32("--c", c);

  std::array<std::uint8_t, 32> a{}, b{};
  for (std::size_t i = 0; i < dot.products.size(); ++i) {
    a[i] = dot.products[i].a.code;
    b[i] = dot.products[i].b.code;
  }
  dot.trace = fp8twin::explain_dot(dot.core, a.data(), b.data(), dot.c);
  const float result = dot.trace.result;
  const Exact exact = exact_sum(dot);
  const bool has_grid = !dot.trace.special && !dot.trace.all_zero;

  Explanation e;
  e.text = fmt::format("{} + C, C = {}, on a tensor core that aligns to {} fraction bits{}\n\n", value,
                       decimal(dot.c), fraction_bits,
                       fraction_bits == sm90.fraction_bits ? " (Hopper)" : " (what if; Hopper has 13)");
  e.text += steps(dot) + line("result", fmt::format("{} = {}", hex(f32_bits(result), 8), decimal(result)));
  std::string exact_text = decimal(exact.value);
  if (exact.rest != 0) exact_text += fmt::format(" + ({})", decimal(exact.rest));
  if (const double off = result - exact.value; std::isfinite(off) && off != 0)
    exact_text += fmt::format("; the result is off by {}", decimal(off));
  e.text += line("exact", exact_text);

  e.answer = {{"fraction_bits", fraction_bits},
              {"output_bits", dot.core.output_bits},
              {"E", has_grid ? Json(dot.trace.exponent) : Json()},
              {"grid", has_grid ? number(dot.grid()) : Json()},
              {"terms", terms_json(dot)},
              {"sum", has_grid || dot.trace.all_zero ? Json(dot.trace.sum) : Json()},
              {"result", number(result)},
              {"result_bits", hex(f32_bits(result), 8)},
              {"exact", number(exact.value)},
              {"exact_rest", number(exact.rest)}};
  return e;
}

}  // namespace fp8twin::cli
