#include "emulator/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "emulator/report/word.hpp"
#include "emulator/support/parallel.hpp"

namespace fp8twin {
namespace {

constexpr std::int64_t elements_a_chunk = std::int64_t{1} << 22;

// Where a code has its exponent and fraction; all zero for formats without subnormals.
struct Fields {
  std::uint32_t exponent = 0, fraction = 0;
  bool is_subnormal(std::uint32_t code) const { return (code & exponent) == 0 && (code & fraction) != 0; }
};

Fields fields_of(DType dtype) {
  switch (dtype) {
    case DType::f8_e4m3:
      return {0x78, 0x07};
    case DType::f8_e5m2:
      return {0x7c, 0x03};
    case DType::bf16:
      return {0x7f80, 0x007f};
    case DType::f16:
      return {0x7c00, 0x03ff};
    case DType::f32:
      return {0x7f800000, 0x007fffff};
    default:
      return {};
  }
}

void add_range(Statistics& sum, double low, double high, bool first) {
  sum.min = first ? low : std::min(sum.min, low);
  sum.max = first ? high : std::max(sum.max, high);
}

void add(Statistics& sum, DType dtype, const Fields& fields, std::uint32_t code, std::int64_t count) {
  const double x = word_value(dtype, code);
  const bool first = sum.finite() == 0;
  sum.elements += count;
  if (std::isnan(x)) {
    sum.nan += count;
  } else if (std::isinf(x)) {
    sum.infinite += count;
  } else {
    add_range(sum, x, x, first);
    int exponent = 0;
    if (x == 0) sum.zero += count;
    if (x < 0) sum.negative += count;
    if (fields.is_subnormal(code)) sum.subnormal += count;
    if (std::frexp(x, &exponent) == 0.5) sum.power_of_two += count;
  }
}

void merge(Statistics& sum, const Statistics& part) {
  if (part.finite() > 0) add_range(sum, part.min, part.max, sum.finite() == 0);
  sum.elements += part.elements;
  sum.nan += part.nan;
  sum.infinite += part.infinite;
  sum.zero += part.zero;
  sum.subnormal += part.subnormal;
  sum.negative += part.negative;
  sum.power_of_two += part.power_of_two;
}

template <class Code>
Statistics count_chunk(DType dtype, std::span<const Code> codes) {
  const Fields fields = fields_of(dtype);
  Statistics sum;
  if constexpr (sizeof(Code) == 4) {
    for (const Code code : codes) add(sum, dtype, fields, code, 1);
  } else {
    std::vector<std::int64_t> counts(std::size_t{1} << (8 * sizeof(Code)));
    for (const Code code : codes) ++counts[code];
    for (std::size_t code = 0; code < counts.size(); ++code) {
      if (counts[code] > 0) add(sum, dtype, fields, static_cast<std::uint32_t>(code), counts[code]);
    }
  }
  return sum;
}

template <class Code>
Statistics count(const Tensor& tensor, int threads) {
  const auto codes = tensor.as<Code>();
  const std::int64_t size = static_cast<std::int64_t>(codes.size());
  const std::int64_t chunks = (size + elements_a_chunk - 1) / elements_a_chunk;
  std::vector<Statistics> parts(static_cast<std::size_t>(chunks));
  parallel_for(chunks, threads, [&](std::int64_t chunk, int) {
    const std::int64_t begin = chunk * elements_a_chunk, length = std::min(elements_a_chunk, size - begin);
    parts[static_cast<std::size_t>(chunk)] = count_chunk(
        tensor.dtype, codes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length)));
  });
  Statistics sum;
  for (const Statistics& part : parts) merge(sum, part);
  return sum;
}

}  // namespace

Statistics statistics(const Tensor& tensor, int threads) {
  switch (dtype_size(tensor.dtype)) {
    case 1:
      return count<std::uint8_t>(tensor, threads);
    case 2:
      return count<std::uint16_t>(tensor, threads);
    default:
      return count<std::uint32_t>(tensor, threads);
  }
}

}  // namespace fp8twin
