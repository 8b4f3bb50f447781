// From a product and a configuration to a launch: grid, shared memory, tensor maps, padded rows.
//
//   Product, config, multiprocessors  ->  LaunchPlan  ->  the emulated machine (machine_gemm.hpp)
//                                                     ->  the card             (card_gemm.hpp)
//
// TMA wants rows that begin on multiples of 16 bytes: a_stride, b_stride and d_stride say where the caller's rows of A
// and B, and the kernel's of D, begin. What lies between is never read for its value: the maps know the true extents and
// fill with zeros. Steps 1 to 6 store D themselves, without padding. Step 1 reads A and B itself, too.
#pragma once

#include "emulator/layout/tensor_map.hpp"
#include "gpu/kernels/arguments.hpp"
#include "gpu/kernels/find_groups.hpp"
#include "gpu/kernels/groups.hpp"
#include "gpu/kernels/trace_layout.hpp"
#include "gpu/launch/configs.hpp"

namespace fp8twin {

struct LaunchPlan {
  GemmConfig config;
  Product product;
  u32 m = 0, n = 0, k = 0;  // of groups.hpp; along K k is 128 times the K blocks of all groups
  u32 groups = 1;

  u32 grid_x = 0, grid_y = 0;  // 0: nothing to compute
  u32 cluster = 1;             // blocks along x
  u32 threads = 0, shared_bytes = 0;

  u64 a_stride = 0, b_stride = 0;  // bytes (and codes) from row to row
  u64 d_stride = 0;                // elements
  // Base 0: whoever launches knows the addresses. Step 1 uses none, 2 to 6 not d, 7 not a_scale; b_scale only 1D1D.
  TensorMapDescription a, b, d, a_scale, b_scale;
  u64 a_scale_stride = 0,
      b_scale_stride = 0;  // floats from K block to K block, where the scales go transposed
  u32 raster_shift = 3;
  bool b_once = false;  // see GemmArguments

  /// The extents of the product as the kernel sees it: M and N, or N and M where the operands are swapped.
  u32 rows() const { return config.swapped() ? n : m; }
  u32 columns() const { return config.swapped() ? m : n; }
  u32 k_blocks() const { return (k + k_block - 1) / k_block; }
  u32 k_blocks_of(u32 group) const;
  TraceLayout trace(u32 group = 0) const;
  // Rows of the arrays that hold all groups.
  u32 a_rows() const { return m * (has_rooms() ? groups : 1); }
  u32 b_rows() const { return n * (along_k() ? 1 : groups); }
  u32 d_rows() const { return m * (has_rooms() || along_k() ? groups : 1); }
  u64 element_bytes() const { return config.output_f32 ? 4 : 2; }
  u64 d_bytes() const { return u64{d_rows()} * d_stride * element_bytes(); }

  // Places for their scales in an array that is transposed: each group's are a multiple of four.
  u32 a_scale_places() const { return has_rooms() ? groups * scale_rows(m) : scale_rows(m); }
  u32 b_scale_places() const { return along_k() ? scale_rows(n) : groups * scale_rows(n); }

  bool is(Grouping grouping) const { return config.form.grouping == grouping; }
  bool along_k() const { return is(Grouping::along_k); }
  /// Each group has m rows of A.
  bool has_rooms() const { return is(Grouping::batched) || is(Grouping::masked); }
};

/// Groups that a launch takes: every role of a kernel walks over all of them.
inline constexpr i64 most_groups = 65536;

/// Throws Error when the configuration is not accepted, or an extent is beyond what the kernel takes. The plan's configuration
/// has the product's form.
LaunchPlan plan_gemm(const Product& product, const GemmConfig& config, u32 multiprocessors);
/// One product, 1D2D.
LaunchPlan plan_gemm(i64 m, i64 n, i64 k, const GemmConfig& config, u32 multiprocessors);

/// Where a launch finds its arrays: a and b with the plan's strides, the scales as ArrangedOperands has them.
struct LaunchPointers {
  const u8* a = nullptr;
  const float* a_scale = nullptr;
  const u8* b = nullptr;
  const float* b_scale = nullptr;
  void* d = nullptr;
  const float* c = nullptr;          // like d; where D is BF16 and accumulates
  const u32* group_table = nullptr;  // groups.hpp; null where there is none
};

/// The kernel's scalar arguments and pointers. Tensor maps are the launcher's to encode. `trace` has its tile as all of the
/// host counts it, along M and along N of D; here it becomes the kernel's, which may compute D transposed.
GemmArguments arguments_of(const LaunchPlan& plan, const LaunchPointers& pointers,
                           const TraceArguments& trace);

/// What find_groups takes, for contiguous groups: `groups` are the group of each row, or with by_ends each group's end.
FindGroupsArguments find_groups_arguments(const LaunchPlan& plan, bool by_ends, const u32* groups,
                                          u32* group_table, void* d);

/// All of it, with the tensor maps that `encode` makes of a description: the machine's or the driver's.
template <class Encode>
TmaGemmArguments tma_arguments_of(const LaunchPlan& plan, const LaunchPointers& pointers,
                                  const TraceArguments& trace, const Encode& encode) {
  const auto encoded = [&](TensorMapDescription description, const void* base) {
    description.base = reinterpret_cast<u64>(base);
    return encode(description);
  };
  const GemmConfig& config = plan.config;
  TmaGemmArguments arguments = {};
  arguments.gemm = arguments_of(plan, pointers, trace);
  if (config.step > 1) {
    arguments.a = encoded(plan.a, config.swapped() ? pointers.b : pointers.a);
    arguments.b = encoded(plan.b, config.swapped() ? pointers.a : pointers.b);
  }
  if (config.stores_by_tma()) arguments.d = encoded(plan.d, pointers.d);
  if (config.loads_scales_by_tma()) arguments.a_scale = encoded(plan.a_scale, pointers.a_scale);
  if (config.form.b_scale_per_row) arguments.b_scale = encoded(plan.b_scale, pointers.b_scale);
  return arguments;
}

}  // namespace fp8twin
