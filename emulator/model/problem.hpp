// A problem: the operands of one GEMM as a problem file names them, checked once, so that engines need not.
//
//   kind        a                b              a_scale            b_scale                     d
//   1d2d        [M,K]            [N,K]          [M,K/128]          [N/128,K/128]               [M,N], + c [M,N]
//   1d1d        [M,K]            [N,K]          [M,K/128]          [N,K/128]                   [M,N], + c [M,N]
//   batched     [B,M,K]          [B,N,K]        leading B          leading B (either form)     [B,M,N]
//   contiguous  [M,K]            [G,N,K]        [M,K/128]          leading G                   [M,N]
//   masked      [G,Mmax,K]       [G,N,K]        leading G          leading G                   [G,Mmax,N]
//   k-grouped   [M,Ktotal]       [N,Ktotal]     [M,sum K_g/128]    [N,sum K_g/128] or N/128    [G,M,N], + c [G,M,N]
//   wgmma       [64,K]           [N,K]          none               none                        [64,N], + c [64,N]
//
// c, F32, is optional and added last; a wgmma starts from it. Any dense problem may have one: with N = 1 nothing tells
// 1d2d from 1d1d. Every quotient rounds up: the last block of a row is a partial one. docs/files.md has the full page.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/files/tensor.hpp"

namespace fp8twin {

enum class Kind { dense_1d2d, dense_1d1d, batched, contiguous, masked, k_grouped, wgmma };

/// "1d2d", "1d1d", "batched", "contiguous", "masked", "k-grouped", "wgmma"
std::string_view kind_name(Kind kind);
std::optional<Kind> kind_from_name(std::string_view name);

struct Problem {
  Kind kind = Kind::dense_1d2d;
  std::int64_t m = 0, n = 0, k = 0;  // of one group; masked: m = Mmax; k-grouped: k = Ktotal
  std::int64_t groups = 1;           // G or B

  std::span<const std::uint8_t> a, b;
  std::span<const float> a_scale, b_scale;
  std::int64_t b_scale_rows = 128;  // rows of B that share a scale: 128, or 1 for 1D1D
  std::span<const float> c;         // empty when absent
  bool has_c = false;
  std::span<const std::int32_t> m_indices, group_ends, masked_m, k_sizes;  // whichever the kind needs

  TensorFile file;  // keeps the bytes alive

  /// The shape of d.
  Shape d_shape() const;
  /// bf16, or f32 for 1d1d, k-grouped and wgmma.
  DType default_output() const;
  /// Scales along K of one row (k-grouped: over all groups; a group's blocks start anew).
  std::int64_t k_blocks() const;
};

/// Recognises the kind of `file` by its tensors and checks every dtype, shape and index.
/// Throws Error naming file, tensor, what was found and what is needed.
Problem read_problem(const TensorFile& file);

}  // namespace fp8twin
