#include "emulator/report/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "emulator/report/word.hpp"
#include "emulator/support/error.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin {
namespace {

constexpr std::int64_t chunk_elements = 1 << 16;

struct Partial {
  Comparison counts;
  double square_difference = 0, square_sum = 0;
};

std::vector<IndexRange> chunks_of(std::span<const IndexRange> ranges) {
  std::vector<IndexRange> chunks;
  for (const IndexRange& range : ranges) {
    for (std::int64_t at = range.begin; at < range.end; at += chunk_elements) {
      chunks.push_back({at, std::min(range.end, at + chunk_elements)});
    }
  }
  return chunks;
}

std::vector<IndexRange> ranges_of(const Tensor& tensor, const CompareOptions& options) {
  return options.ranges ? *options.ranges : std::vector<IndexRange>{{0, tensor.elements()}};
}

template <DType dtype>
bool differs(std::uint32_t a, std::uint32_t b, bool nan_equal) {
  return a != b && !(nan_equal && word_is_nan(dtype, a) && word_is_nan(dtype, b));
}

void raise_to(double value, double& max, std::int64_t index, std::int64_t& max_index) {
  if (value > max) max = value, max_index = index;
}

/// Takes in one pair of values, neither of them NaN, whose bits differ.
template <DType dtype>
void add_difference(Partial& partial, std::int64_t index, std::uint32_t a, std::uint32_t b) {
  Comparison& counts = partial.counts;
  const std::int64_t steps = word_place(dtype, a) - word_place(dtype, b);
  const std::uint64_t ulp = static_cast<std::uint64_t>(steps < 0 ? -steps : steps);
  ++counts.ulp_histogram[static_cast<std::size_t>(std::bit_width(ulp))];
  if (ulp > counts.max_ulp) counts.max_ulp = ulp, counts.max_ulp_index = index;

  const double x = word_value(dtype, a), y = word_value(dtype, b), distance = std::fabs(x - y);
  const double larger = std::max(std::fabs(x), std::fabs(y));
  raise_to(distance, counts.max_abs, index, counts.max_abs_index);
  if (larger > 0)
    raise_to(std::isinf(distance) ? distance : distance / larger, counts.max_rel, index,
             counts.max_rel_index);
  if (std::isfinite(distance)) partial.square_difference += distance * distance;
}

template <DType dtype>
Partial compare_chunk(const Tensor& a, const Tensor& b, IndexRange chunk, const CompareOptions& options) {
  Partial partial;
  Comparison& counts = partial.counts;
  counts.elements = chunk.end - chunk.begin;
  for (std::int64_t index = chunk.begin; index < chunk.end; ++index) {
    const std::uint32_t x = load_word<dtype>(a.bytes.data(), index),
                        y = load_word<dtype>(b.bytes.data(), index);
    const bool nan = word_is_nan(dtype, x) || word_is_nan(dtype, y);
    if (!nan) {
      const double u = word_value(dtype, x), v = word_value(dtype, y), square = u * u + v * v;
      if (std::isfinite(square)) partial.square_sum += square;
    }
    if (!differs<dtype>(x, y, options.nan_equal)) continue;
    ++counts.different;
    if (counts.first.size() < static_cast<std::size_t>(options.first_count))
      counts.first.push_back({index, x, y});
    if (nan) {
      ++counts.nan_mismatch;
    } else {
      add_difference<dtype>(partial, index, x, y);
    }
  }
  return partial;
}

/// Adds the next chunk to the result; `total` keeps the first index of every maximum.
void append(Partial& total, const Partial& next, int first_count) {
  Comparison& sum = total.counts;
  const Comparison& more = next.counts;
  sum.elements += more.elements;
  sum.different += more.different;
  sum.nan_mismatch += more.nan_mismatch;
  for (std::size_t i = 0; i < sum.ulp_histogram.size(); ++i) sum.ulp_histogram[i] += more.ulp_histogram[i];
  if (more.max_ulp > sum.max_ulp) sum.max_ulp = more.max_ulp, sum.max_ulp_index = more.max_ulp_index;
  raise_to(more.max_abs, sum.max_abs, more.max_abs_index, sum.max_abs_index);
  raise_to(more.max_rel, sum.max_rel, more.max_rel_index, sum.max_rel_index);
  for (const Difference& difference : more.first) {
    if (sum.first.size() < static_cast<std::size_t>(first_count)) sum.first.push_back(difference);
  }
  total.square_difference += next.square_difference;
  total.square_sum += next.square_sum;
}

}  // namespace

Comparison compare(const Tensor& a, const Tensor& b, const CompareOptions& options) {
  if (a.dtype != b.dtype || a.shape != b.shape) {
    throw Error(fmt::format(
        "tensor '{}' is {} {} and tensor '{}' is {} {}; a comparison needs one dtype and shape", a.name,
        dtype_name(a.dtype), shape_text(a.shape), b.name, dtype_name(b.dtype), shape_text(b.shape)));
  }
  const std::vector<IndexRange> chunks = chunks_of(ranges_of(a, options));
  std::vector<Partial> partials(chunks.size());
  with_dtype(a.dtype, [&](auto dtype) {
    parallel_for(static_cast<std::int64_t>(chunks.size()), options.threads, [&](std::int64_t i, int) {
      const auto at = static_cast<std::size_t>(i);
      partials[at] = compare_chunk<dtype>(a, b, chunks[at], options);
    });
  });
  Partial total;
  for (const Partial& partial : partials) append(total, partial, options.first_count);
  if (total.square_difference > 0) total.counts.calc_diff = total.square_difference / total.square_sum;
  return total.counts;
}

std::vector<std::int64_t> differing_elements(const Tensor& a, const Tensor& b, const Comparison& comparison,
                                             const CompareOptions& options, std::int64_t limit) {
  std::vector<std::int64_t> found;
  const std::int64_t wanted = std::min(limit, comparison.different);
  if (wanted == 0) return found;
  found.reserve(static_cast<std::size_t>(wanted));
  with_dtype(a.dtype, [&](auto dtype) {
    std::int64_t seen = 0;  // take number floor(i * different / wanted), for i = 0, 1, ...
    for (const IndexRange& range : ranges_of(a, options)) {
      for (std::int64_t index = range.begin; index < range.end; ++index) {
        if (!differs<dtype>(load_word<dtype>(a.bytes.data(), index), load_word<dtype>(b.bytes.data(), index),
                            options.nan_equal))
          continue;
        const auto taken = static_cast<std::int64_t>(found.size());
        if (seen++ == taken * comparison.different / wanted) found.push_back(index);
        if (static_cast<std::int64_t>(found.size()) == wanted) return;
      }
    }
  });
  return found;
}

std::vector<std::int64_t> evenly_spaced(std::span<const IndexRange> ranges, std::int64_t limit) {
  std::int64_t elements = 0;
  for (const IndexRange& range : ranges) elements += range.end - range.begin;
  const std::int64_t wanted = std::min(limit, elements);
  std::vector<std::int64_t> indices;
  indices.reserve(static_cast<std::size_t>(wanted));
  std::int64_t before = 0;  // elements in earlier ranges
  for (const IndexRange& range : ranges) {
    const std::int64_t length = range.end - range.begin;
    for (std::int64_t next; static_cast<std::int64_t>(indices.size()) < wanted;) {
      next = static_cast<std::int64_t>(indices.size()) * elements / wanted;
      if (next >= before + length) break;
      indices.push_back(range.begin + next - before);
    }
    before += length;
  }
  return indices;
}

Shape coordinates(const Shape& shape, std::int64_t index) {
  Shape at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    at[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return at;
}

}  // namespace fp8twin
