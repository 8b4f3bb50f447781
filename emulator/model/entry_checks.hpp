// What the functions of fp8twin/model.hpp share: the checks of their spans, and the GEMM behind every one of them.
//
//   gemm(m, n, k, a, ...)          dense rows             entry.cpp         ->  gemm_k_major  ->  gemm_slice
//   gemm_nt, _nn, _tn, _tt (...)   views, in any order    entry_views.cpp   ->  gemm_k_major  ->  gemm_slice
#pragma once

#include <cstdint>
#include <fp8twin/model.hpp>
#include <span>
#include <string_view>

#include "emulator/model/operand_order.hpp"

namespace fp8twin {

/// Throws Error unless the span `name` has rows * columns elements.
void need_size(std::string_view name, std::size_t found, std::int64_t rows, std::int64_t columns);
/// Throws Error unless 0 <= extent < 2^31.
void need_extent(std::string_view name, std::int64_t extent);

/// d[m,n] = c + a b^T with scales, where a has m rows and b n rows of the same number of codes; every span but those of the
/// codes is checked here. Throws Error.
void gemm_k_major(const KMajorCodes& a, std::span<const float> a_scale, const KMajorCodes& b,
                  std::span<const float> b_scale, std::span<float> d, const ModelOptions& options,
                  std::span<const float> c);
void gemm_k_major(const KMajorCodes& a, std::span<const float> a_scale, const KMajorCodes& b,
                  std::span<const float> b_scale, std::span<std::uint16_t> d, const ModelOptions& options,
                  std::span<const float> c);

}  // namespace fp8twin
