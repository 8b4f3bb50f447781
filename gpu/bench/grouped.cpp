#include "gpu/bench/grouped.hpp"

#include <algorithm>

#include "gpu/bench/cublaslt_scales.hpp"
#include "gpu/bench/problem.hpp"
#include "gpu/jit/kernels.hpp"
#include "gpu/launch/choose.hpp"
#include "gpu/launch/tensor_map.hpp"

namespace fp8twin::bench {
namespace {

i64 blocks_of(i64 extent) { return (extent + 127) / 128; }

template <class T>
void put(std::vector<T>& to, i64 at, const std::vector<T>& from) {
  std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Rows of the arrays before those of a group: of A and D.
i64 first_row(const Product& product, i64 group) {
  if (product.form.grouping == Grouping::masked) return group * product.m;
  i64 row = 0;
  for (i64 g = 0; g < group; ++g) row += 128 * blocks_of(product.rows[static_cast<std::size_t>(g)]);
  return row;
}

}  // namespace

GroupedOperands::GroupedOperands(const GroupedCase& what, u64 seed) {
  const Product& p = what.product;
  const i64 k_blocks = blocks_of(p.k), b_block = p.form.b_scale_per_row ? 1 : 128;
  const bool rows_in_groups = !p.rows.empty();
  const i64 a_rows = p.form.grouping == Grouping::masked ? p.m * p.groups : p.m;
  a.resize(static_cast<std::size_t>(a_rows * p.k));
  a_scale.resize(static_cast<std::size_t>(a_rows * k_blocks));
  if (p.form.grouping == Grouping::contiguous) groups.assign(static_cast<std::size_t>(p.m), -1);
  if (p.form.grouping == Grouping::masked) groups.assign(p.rows.begin(), p.rows.end());
  for (i64 group = 0; group < (rows_in_groups ? p.groups : 1); ++group) {
    const i64 rows = rows_in_groups ? p.rows[static_cast<std::size_t>(group)] : p.m;
    const i64 row = rows_in_groups ? first_row(p, group) : 0;
    const Quantised of_a = normal_operand(rows, p.k, 1, 1000 * seed + static_cast<u64>(2 * group));
    put(a, row * p.k, of_a.codes);
    put(a_scale, row * k_blocks, of_a.scales);
    if (p.form.grouping == Grouping::contiguous) {
      std::fill_n(groups.begin() + static_cast<std::ptrdiff_t>(row), rows, static_cast<i32>(group));
    }
    const Quantised of_b = normal_operand(p.n, p.k, b_block, 1000 * seed + static_cast<u64>(2 * group + 1));
    b.insert(b.end(), of_b.codes.begin(), of_b.codes.end());
    b_scale.insert(b_scale.end(), of_b.scales.begin(), of_b.scales.end());
  }
  if (p.form.accumulate) {
    c.resize(static_cast<std::size_t>(p.m * p.n * (p.form.grouping == Grouping::along_k ? p.groups : 1)));
  }
}

GemmOperands GroupedOperands::view() const {
  return {.a = a, .a_scale = a_scale, .b = b, .b_scale = b_scale, .c = c, .groups = groups};
}

OneByOne::OneByOne(KernelCache& kernels, const GroupedCase& what, const LaunchPlan& plan,
                   const CardGemm& whole, u32 multiprocessors)
    : d_(plan.d_bytes()) {
  d_.fill(what.product.form.accumulate ? 0 : 0xff);
  const Product& p = what.product;
  const GemmArguments& g = whole.arguments().gemm;
  const u64 k_blocks = plan.k_blocks();
  u64 k_block = 0;
  for (i64 group = 0; group < p.groups; ++group) {
    const bool along = plan.along_k();
    const i64 rows = along ? p.m : p.rows[static_cast<std::size_t>(group)];
    if (rows == 0) continue;
    ProductForm form = p.form;
    form.grouping = Grouping::none;
    const Product one{
        .form = form, .m = rows, .n = p.n, .k = along ? p.k_sizes[static_cast<std::size_t>(group)] : p.k};
    const GemmConfig config = choose_config(one, plan.config.output_f32, multiprocessors);
    LaunchPlan part = plan_gemm(one, config, multiprocessors);
    part.a.stride[0] = part.b.stride[0] = plan.a_stride;
    part.a_scale.stride[0] = 4 * plan.a_scale_stride;
    part.b_scale.stride[0] = 4 * plan.b_scale_stride;
    part.d_stride = plan.d_stride;
    part.d.stride[0] = plan.d_stride * plan.element_bytes();
    LaunchPointers at;
    const u64 row = along ? 0 : static_cast<u64>(first_row(p, group)), number = static_cast<u64>(group);
    const u64 d_row = along ? number * plan.m : row;
    at.a = g.a + row * plan.a_stride + 128 * k_block;
    at.b = g.b + (along ? 0 : number * plan.n) * plan.b_stride + 128 * k_block;
    at.a_scale = g.a_scale + row + k_block * plan.a_scale_stride;
    at.b_scale = p.form.b_scale_per_row ? g.b_scale + k_block * plan.b_scale_stride
                                        : g.b_scale + number * static_cast<u64>(blocks_of(p.n)) * k_blocks;
    at.d = d_.device() + d_row * plan.d_stride * plan.element_bytes();
    const Kernel kernel = kernels.get(jit::gemm_source(part.config), part.config.name());
    part = resident(part, kernel);
    parts_.push_back({kernel, part, card_arguments(part, at)});
    if (along) k_block += static_cast<u64>(k_blocks_taken(one.k));
  }
}

void OneByOne::launch() const {
  for (const Part& part : parts_) launch_on_card(part.kernel, part.plan, part.arguments);
}

CublasLtOneByOne::CublasLtOneByOne(const CublasLt& lt, const GroupedCase& what,
                                   const GroupedOperands& operands, const LaunchPlan& plan,
                                   const CardGemm& whole)
    : d_(plan.d_bytes()) {
  const Product& p = what.product;
  const GemmArguments& g = whole.arguments().gemm;
  const i64 k_blocks = blocks_of(p.k), n_blocks = blocks_of(p.n);
  d_.fill(0);
  for (i64 group = 0; group < p.groups; ++group) {
    const i64 rows = p.rows.empty() ? p.m : p.rows[static_cast<std::size_t>(group)];
    const u64 row = p.rows.empty() ? 0 : static_cast<u64>(first_row(p, group)),
              number = static_cast<u64>(group);
    if (rows == 0) continue;
    const auto scales_of = [&](const std::vector<float>& from, u64 first, i64 count) {
      return std::span(from).subspan(first, static_cast<std::size_t>(count));
    };
    const bool per_row = p.form.b_scale_per_row;
    const auto a_scale = scales_of(operands.a_scale, row * static_cast<u64>(k_blocks), rows * k_blocks);
    const auto b_scale =
        scales_of(operands.b_scale, number * static_cast<u64>((per_row ? p.n : n_blocks) * k_blocks),
                  (per_row ? p.n : n_blocks) * k_blocks);
    scales_.push_back(std::make_unique<Buffer<float>>(vec128_scales(a_scale, rows, k_blocks, rows)));
    const float* of_a = scales_.back()->device();
    scales_.push_back(std::make_unique<Buffer<float>>(per_row ? vec128_scales(b_scale, p.n, k_blocks, p.n)
                                                              : blk128_scales(b_scale, n_blocks, k_blocks)));
    parts_.push_back(std::make_unique<CublasLtGemm>(
        lt, per_row ? CublasLtGemm::Scaling::rows : CublasLtGemm::Scaling::block, rows, p.n, p.k,
        CublasLtOperands{g.a + row * plan.a_stride, of_a, g.b + number * plan.n * plan.b_stride,
                         scales_.back()->device(),
                         d_.device() + row * plan.d_stride * plan.element_bytes()}));
  }
}

void CublasLtOneByOne::launch() const {
  for (const auto& part : parts_) part->launch();
}

}  // namespace fp8twin::bench
