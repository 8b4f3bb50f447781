#include "emulator/report/element.hpp"

#include <algorithm>
#include <array>

namespace fp8twin {

bool Element::constant_scales() const {
  if (!scaled) return true;
  for (std::int64_t block = 1; block < k_blocks(); ++block) {
    if (f32_bits(a_scale[block]) != f32_bits(a_scale[0]) || f32_bits(b_scale[block]) != f32_bits(b_scale[0]))
      return false;
  }
  return true;
}

Elements::Elements(const Problem& problem) : slices_(slices(problem)), scaled_(problem.kind != Kind::wgmma) {
  std::erase_if(slices_, [](const GemmSlice& slice) { return slice.m == 0 || slice.n == 0; });
  std::sort(slices_.begin(), slices_.end(),
            [](const GemmSlice& x, const GemmSlice& y) { return x.d_offset < y.d_offset; });
  for (const GemmSlice& slice : slices_)
    ranges_.push_back({slice.d_offset, slice.d_offset + slice.m * slice.n});
}

std::int64_t Elements::count() const {
  std::int64_t sum = 0;
  for (const IndexRange& range : ranges_) sum += range.end - range.begin;
  return sum;
}

Element Elements::at(std::int64_t index) const {
  const auto after =
      std::upper_bound(slices_.begin(), slices_.end(), index,
                       [](std::int64_t i, const GemmSlice& slice) { return i < slice.d_offset; });
  const GemmSlice& slice = *std::prev(after);
  const std::int64_t row = (index - slice.d_offset) / slice.n, column = (index - slice.d_offset) % slice.n;
  Element element{
      .a = slice.a + row * slice.lda, .b = slice.b + column * slice.ldb, .k = slice.k, .scaled = scaled_};
  if (scaled_ && slice.k > 0) {
    element.a_scale = slice.a_scale + row * slice.a_scale_stride;
    element.b_scale = slice.b_scale + column / slice.b_scale_rows * slice.b_scale_stride;
  }
  if (slice.c) element.c = slice.c + row * slice.n + column;
  return element;
}

float chain(const TensorCore& core, const std::uint8_t* a, const std::uint8_t* b, std::int64_t count,
            float c) {
  std::int64_t at = 0;
  for (; at + core.group <= count; at += core.group) c = dot(core, a + at, b + at, c);
  if (at == count) return c;
  std::array<std::uint8_t, 128> a_tail{}, b_tail{};
  std::copy(a + at, a + count, a_tail.begin());
  std::copy(b + at, b + count, b_tail.begin());
  return dot(core, a_tail.data(), b_tail.data(), c);
}

}  // namespace fp8twin
