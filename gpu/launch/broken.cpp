#include "gpu/launch/broken.hpp"

namespace fp8twin {

std::span<const NamedBug> named_bugs() {
  static constexpr NamedBug bugs[] = {
      {Bug::none, "none", false},
      {Bug::late_wait, "late_wait", false},
      {Bug::wrong_parity, "wrong_parity", false},
      {Bug::small_expect_tx, "small_expect_tx", false},
      {Bug::large_expect_tx, "large_expect_tx", true},
      {Bug::early_release, "early_release", false},
      {Bug::forgotten_release, "forgotten_release", true},
      {Bug::early_read, "early_read", false},
      {Bug::missing_wgmma_fence, "missing_wgmma_fence", false},
      {Bug::missing_proxy_fence, "missing_proxy_fence", false},
      {Bug::missing_init_fence, "missing_init_fence", false},
      {Bug::wrong_base_offset, "wrong_base_offset", false},
      {Bug::wrong_stride, "wrong_stride", false},
      {Bug::neighbours_rows, "neighbours_rows", false},
      {Bug::bank_conflicts, "bank_conflicts", false},
      {Bug::forgotten_store_wait, "forgotten_store_wait", false},
  };
  return bugs;
}

BrokenMaps broken_maps(Bug bug, u32 k_blocks, u64 a, u64 b, u64 d) {
  const u64 k = u64{128} * k_blocks;
  const auto operand = [&](u64 base) {
    return TensorMapDescription{.base = base,
                                .element = TensorElement::uint8,
                                .rank = 2,
                                .size = {k, 64, 1},
                                .stride = {k, 0},
                                .box = {128, 64, 1},
                                .swizzle = SwizzleMode::b128};
  };
  const TensorMapDescription output{
      .base = d,
      .element = TensorElement::bf16,
      .rank = 2,
      .size = {64, 64, 1},
      .stride = {128, 0},
      .box = {64, 64, 1},
      .swizzle = bug == Bug::bank_conflicts ? SwizzleMode::none : SwizzleMode::b128};
  return {operand(a), operand(b), output};
}

}  // namespace fp8twin
