// Which arithmetic gives these bits? Elements of d computed in ways that real libraries (and wrong kernels)
// use, to be compared with a result that departs from the model.
//
//   model                   for each K block: P = four k32 steps of 13 bits, final = fma(fl(sa*sb), P, final)
//   fast-accumulation       one chain over all of K, then fl(fl(sa*sb) * P): only where scales are constant
//                           along K
//   multiply-then-add       final = fl(final + fl(s*P)): two roundings
//   scale-a-first           final = fl(final + fl(fl(P*sa) * sb))             and scale-b-first
//   scale-a-first-fma       final = fma(fl(P*sa), sb, final)                  and scale-b-first-fma
//   fp32-sums               products summed one by one in FP32, in k order, then promoted as the model does
//   exact-blocks            each block's exact sum rounded once to FP32, then promoted as the model does
//   fraction-bits-25        25 bits: a wider sum, Blackwell-like, as reported for later chips; not measured here
//   fraction-bits-25-fast   25 bits and one chain over all of K
//   split-k-2               two halves of the K blocks promoted apart, then added
//   dequantised             x = fl(code*sa), y = fl(code*sb), acc = fma(x, y, acc) in k order: an FP32 GEMM
//   double-reference        the exact result, rounded to double, to FP32 and to d's format
//   output-truncated        the model, but BF16 by dropping the low 16 bits
//
// For wgmma (no scales): model, fp32-sums, exact-blocks (one rounding after all of K), fraction-bits-25,
// c-added-last, promoted (FP32 sums of 128-wide blocks), double-reference.
//
// find_fault() asks a second question: does b lack one K block, count one twice, or scale one by its
// neighbour's scales?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/report/element.hpp"

namespace fp8twin {

/// Told the work done and the work there is, by one thread.
using ReportProgress = std::function<void(std::int64_t done, std::int64_t total)>;

enum class Accumulation { bits13, bits25, fp32_sums, rounded_once };
enum class Promotion {
  fma,
  multiply_then_add,
  scale_a_first,
  scale_b_first,
  scale_a_first_fma,
  scale_b_first_fma,
  none,
  split_k_2,
  c_last
};
enum class WholeElement { no, dequantised, double_reference };

struct Variant {
  std::string name;
  Accumulation accumulation = Accumulation::bits13;
  Promotion promotion = Promotion::fma;
  WholeElement whole = WholeElement::no;  // not made of blocks
  bool truncate_output = false;
};

/// The variants that make sense for this problem and output; the first is the model.
std::vector<Variant> variants_for(const Problem& problem, DType output);

/// What a variant gives for one element; absent where it does not apply. With `running`, also the value
/// that stood in FP32 after each K block (left empty where the variant is not made of K blocks).
std::optional<std::uint32_t> evaluate(const Variant& variant, const Element& element, DType output,
                                      std::vector<float>* running = nullptr);

/// The first K block after which two variants hold different values; absent when not known.
std::optional<std::int64_t> first_k_block_apart(const Variant& x, const Variant& y, const Element& element,
                                                DType output);

struct VariantScore {
  Variant variant;
  std::int64_t differing = 0, sample = 0;  // elements whose bits it reproduces
};

/// How many of the elements `differing` and `sample` (indices of d) each variant reproduces of `b`.
std::vector<VariantScore> score_variants(const Elements& elements, std::span<const Variant> variants,
                                         const Tensor& b, std::span<const std::int64_t> differing,
                                         std::span<const std::int64_t> sample, int threads,
                                         const ReportProgress& progress = {});

/// The position of the variant that reproduces the most (differing elements first, then sample); absent
/// when none does any.
std::optional<std::size_t> best_variant(std::span<const VariantScore> scores);

enum class FaultKind { block_left_out, block_twice, scales_of_previous, scales_of_next, ends_after };

struct Fault {
  FaultKind kind;
  std::int64_t k_block;
  std::int64_t reproduced, tested;
  std::string sentence() const;  // "b is the model's result without K block 3"
};

/// The single fault of one K block that reproduces b in more than half of the elements, and in more than
/// any other does: else absent. Tests at most 1000 of `differing`.
std::optional<Fault> find_fault(const Elements& elements, const Tensor& b,
                                std::span<const std::int64_t> differing, int threads);

}  // namespace fp8twin
