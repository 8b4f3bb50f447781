// Where the error of a GEMM comes from: the way from exact inputs to d, cut into stages.
//
//   U  exact result of the unquantised a and b                       (only where they are given)
//      |  quantisation       what the codes and scales lost
//   E  exact result of codes and scales, plus c                      emulator/report/exact.hpp
//      |  accumulation       what the tensor core cut off within K blocks
//   T  the blocks' sums P as the tensor core gives them, everything after exact
//      |  promotion          rounding of s = sa*sb, of each fma(s, P, final), and of adding c
//   F  the FP32 result
//      |  output rounding    to d's format
//   D  d
//
// Each stage's error is (after - before), computed exactly and then rounded to double, so the four add up,
// element by element, to the `total`, D - U or D - E. Then, for comparison:
//
//   model f32            F - E
//   without promotion    one chain over all of K and one multiplication by s, plus c, against E. Where
//                        scales vary along K: the chain of the codes alone against their exact sum ("...,
//                        unscaled")
//   accumulation sm90    T - E with Hopper's 13 bits, when another number was asked for
//
// Relative errors are taken of the exact result (U, else E; elements where it is 0 are left out of
// max_rel). calc_diff is DeepGEMM's score between the two ends of a stage. Elements with a NaN or infinity
// on their way are left out and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/model/problem.hpp"
#include "emulator/number/tensor_core.hpp"

namespace fp8twin {

struct AnalysisOptions {
  TensorCore core = sm90;
  bool promote = true;  // false: d itself is made without promotion; scales must be constant along K
  DType output = DType::bf16;
  int threads = 0;
  /// Rows of d to analyse, evenly spaced. 0: as many as `row_budget` allows.
  std::int64_t rows = 0;
  const Tensor *against_a = nullptr,
               *against_b = nullptr;  // unquantised: BF16, F16 or F32, shaped as the codes
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

/// Products (M*N*K) that are analysed when nobody asked for more; an eighth of it with unquantised inputs.
inline constexpr std::int64_t row_budget = std::int64_t{1} << 28;

struct Stage {
  std::string name;
  double max_abs = 0, max_rel = 0, rms = 0, calc_diff = 0;
  std::int64_t max_abs_index = -1;  // element of d; -1: no error anywhere
};

/// One element on its way.
struct AnalysedElement {
  std::int64_t index = 0;
  std::optional<double> unquantised;
  double exact = 0;
  float promoted = 0;                 // FP32, before d's rounding
  std::optional<float> not_promoted;  // where scales are constant along K
  float d = 0;
};

struct Analysis {
  std::vector<Stage> stages;
  std::int64_t rows = 0, all_rows = 0, elements = 0, not_finite = 0;
  std::vector<AnalysedElement> examples;  // the first element; and the one with the greatest total error
};

/// Throws Error when an unquantised tensor does not fit, or promotion is off and scales vary along K.
Analysis analyze(const Problem& problem, const AnalysisOptions& options);

}  // namespace fp8twin
