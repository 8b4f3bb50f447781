#include "emulator/model/slices.hpp"

#include "emulator/number/scale_block.hpp"

namespace fp8twin {
namespace {

/// Rows [row, row + rows) of group `group_a` of A against group `group_b` of B, over all of K.
GemmSlice row_slice(const Problem& p, std::int64_t group_a, std::int64_t row, std::int64_t rows,
                    std::int64_t group_b) {
  const std::int64_t kb = p.k_blocks(), scale_rows = (p.n + p.b_scale_rows - 1) / p.b_scale_rows;
  const std::int64_t first_row = group_a * p.m + row;
  const auto scale = [&](std::span<const float> scales, std::int64_t row_of_scales) {
    if (p.kind == Kind::wgmma) return static_cast<const float*>(nullptr);
    return scales.empty() ? &no_scales : scales.data() + row_of_scales * kb;
  };
  return {.a = p.a.data() + first_row * p.k,
          .lda = p.k,
          .b = p.b.data() + group_b * p.n * p.k,
          .ldb = p.k,
          .a_scale = scale(p.a_scale, first_row),
          .a_scale_stride = kb,
          .b_scale = scale(p.b_scale, group_b * scale_rows),
          .b_scale_stride = kb,
          .b_scale_rows = p.b_scale_rows,
          .c = p.has_c ? p.c.data() + first_row * p.n : nullptr,
          .m = rows,
          .n = p.n,
          .k = p.k,
          .d_offset = first_row * p.n};
}

void contiguous_slices(const Problem& p, std::vector<GemmSlice>& out) {
  if (p.m_indices.empty()) {  // there are rows, so there are group_ends, perhaps of no group
    std::int64_t end = 0;
    for (std::size_t g = 0; g < p.group_ends.size(); ++g) {
      const std::int64_t start = scale_block * scale_blocks(end), next = p.group_ends[g];
      if (next > start) out.push_back(row_slice(p, 0, start, next - start, static_cast<std::int64_t>(g)));
      end = next;
    }
    return;
  }
  const auto group = [&](std::int64_t row) { return p.m_indices[static_cast<std::size_t>(row)]; };
  for (std::int64_t row = 0; row < p.m;) {
    std::int64_t end = row + 1;
    while (end < p.m && group(end) == group(row)) ++end;
    if (group(row) >= 0) out.push_back(row_slice(p, 0, row, end - row, group(row)));
    row = end;
  }
}

void k_grouped_slices(const Problem& p, std::vector<GemmSlice>& out) {
  std::int64_t first_k = 0, first_block = 0;
  for (std::int64_t g = 0; g < p.groups; ++g) {
    const std::int64_t size = p.k_sizes[static_cast<std::size_t>(g)];
    GemmSlice slice = row_slice(p, 0, 0, p.m, 0);
    slice.a += first_k;
    slice.b += first_k;
    if (!p.a_scale.empty()) slice.a_scale += first_block;
    if (!p.b_scale.empty()) slice.b_scale += first_block;
    slice.k = size;
    slice.d_offset = g * p.m * p.n;
    if (p.has_c) slice.c = p.c.data() + slice.d_offset;
    out.push_back(slice);
    first_k += size;
    first_block += scale_blocks(size);
  }
}

}  // namespace

std::vector<GemmSlice> slices(const Problem& p) {
  std::vector<GemmSlice> out;
  if (p.m == 0 || p.n == 0) return out;  // d is empty, however many groups a header claims
  switch (p.kind) {
    case Kind::dense_1d2d:
    case Kind::dense_1d1d:
    case Kind::wgmma:
      out.push_back(row_slice(p, 0, 0, p.m, 0));
      break;
    case Kind::batched:
      for (std::int64_t g = 0; g < p.groups; ++g) out.push_back(row_slice(p, g, 0, p.m, g));
      break;
    case Kind::masked:
      for (std::int64_t g = 0; g < p.groups; ++g)
        out.push_back(row_slice(p, g, 0, p.masked_m[static_cast<std::size_t>(g)], g));
      break;
    case Kind::contiguous:
      contiguous_slices(p, out);
      break;
    case Kind::k_grouped:
      k_grouped_slices(p, out);
      break;
  }
  return out;
}

}  // namespace fp8twin
