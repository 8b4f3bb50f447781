// From a problem's extents and a configuration to a launch: grid, shared memory, tensor maps, padded rows.
//
//   m, n, k, config, multiprocessors  ->  LaunchPlan  ->  the emulated machine (machine_gemm.hpp)
//                                                     ->  the card             (card_gemm.hpp)
//
// TMA wants rows that begin on multiples of 16 bytes: a_stride, b_stride and d_stride say where the caller's rows of A
// and B, and the kernel's of D, begin. What lies between is never read for its value: the maps know the true extents and
// fill with zeros. Steps 1 to 6 store D themselves, without padding. Step 1 reads A and B itself, too.
#pragma once

#include "emulator/layout/tensor_map.hpp"
#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/trace_layout.hpp"
#include "gpu/launch/configs.hpp"

namespace fp8twin {

struct LaunchPlan {
  GemmConfig config;
  u32 m = 0, n = 0, k = 0;

  u32 grid_x = 0, grid_y = 0;  // 0: nothing to compute
  u32 cluster = 1;             // blocks along x
  u32 threads = 0, shared_bytes = 0;

  u64 a_stride = 0, b_stride = 0;  // bytes (and codes) from row to row
  u64 d_stride = 0;                // elements
  // Base 0: whoever launches knows the addresses. Step 1 uses none, 2 to 6 not d, 7 not a_scale.
  TensorMapDescription a, b, d, a_scale;
  u64 a_scale_stride = 0;  // floats from K block to K block, where the scales go transposed
  u32 raster_shift = 3;
  bool b_once = false;  // see GemmArguments

  /// The extents of the product as the kernel sees it: M and N, or N and M where the operands are swapped.
  u32 rows() const { return config.swapped() ? n : m; }
  u32 columns() const { return config.swapped() ? m : n; }
  u32 k_blocks() const { return (k + k_block - 1) / k_block; }
  TraceLayout trace() const;
  u64 a_bytes() const { return u64{m} * a_stride; }
  u64 b_bytes() const { return u64{n} * b_stride; }
  u64 d_bytes() const { return u64{m} * d_stride * (config.output_f32 ? 4 : 2); }
};

/// Throws Error when the configuration is not accepted, or an extent is beyond what the kernel takes.
LaunchPlan plan_gemm(i64 m, i64 n, i64 k, const GemmConfig& config, u32 multiprocessors);

/// The kernel's scalar arguments and pointers. Tensor maps are the launcher's to encode. `trace` has its tile as all of the
/// host counts it, along M and along N of D; here it becomes the kernel's, which may compute D transposed.
GemmArguments arguments_of(const LaunchPlan& plan, const u8* a, const float* a_scale, const u8* b,
                           const float* b_scale, void* d, const TraceArguments& trace);

}  // namespace fp8twin
