// What is said of repeated measurements.
//
//   median   the middle one: what tables compare, since a disturbed run does not move it
//   mean     what the published figures are
//   min      what is possible
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "emulator/support/error.hpp"

namespace fp8twin::bench {

struct Summary {
  double median = 0, mean = 0, min = 0;
  std::size_t count = 0;
};

/// Of no values: all zero. Of an even number, the median is the mean of the two in the middle.
inline Summary summary_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  Summary summary;
  summary.median = values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
  for (const double value : values) summary.mean += value;
  summary.mean /= static_cast<double>(values.size());
  summary.min = values.front();
  summary.count = values.size();
  return summary;
}

/// Throws Error when there are none, or one is not positive.
inline double geometric_mean(std::span<const double> values) {
  if (values.empty()) throw Error("a geometric mean of no values was asked for");
  double logarithms = 0;
  for (const double value : values) {
    if (!(value > 0)) throw Error("a geometric mean takes positive values only");
    logarithms += std::log(value);
  }
  return std::exp(logarithms / static_cast<double>(values.size()));
}

}  // namespace fp8twin::bench
